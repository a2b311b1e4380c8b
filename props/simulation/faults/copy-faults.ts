// A node is cloned: a second machine runs from the image of a first one, beside it or in its place, until somebody sets it
// right. Some throw the copy away, some have the original enrol again, and some revoke the identity of both.
import type { NodeHost } from '../world/node-host.ts';
import { type FleetParts, overAtOnce, targetOf } from './fleet-parts.ts';
import type { FaultEffect, FaultKind, PlannedFault } from './kinds.ts';

type CopyKind = Extract<FaultKind, 'node.clone'>;
type Way = 'thrown away' | 'enrolled again' | 'revoked';

const WAYS: readonly Way[] = ['thrown away', 'enrolled again', 'revoked'];
/** Of four copies three run beside the original, and one in its place. */
const BESIDE = 0.75;
/** People act when so much of the time is over. */
const ACT_AT = 0.7;

/** The effects by kind. */
export function copyFaults(fleet: FleetParts): Readonly<Record<CopyKind, FaultEffect>> {
  const { copies, operators } = fleet;
  const { scheduler } = fleet.world;

  function act(way: Way, node: NodeHost): void {
    if (way === 'revoked') operators.revoke(node);
    if (way === 'enrolled again') operators.reenroll(node);
  }

  return {
    'node.clone': (fault) => {
      const node = targetOf(fleet.nodes, fault);
      const copy = copies.make(node);
      if (copy === null) return overAtOnce;
      const isBeside = fault.severity < BESIDE;
      const way = wayOf(fault);
      if (!isBeside) node.stop();
      copy.start();
      let isOver = false;
      scheduler.after(fault.durationMs * ACT_AT, () => {
        if (isOver) return;
        node.start();
        act(way, node);
      });
      return () => {
        isOver = true;
        copies.throwAway(copy);
        if (way === 'revoked') operators.recreate(node);
        else node.start();
      };
    },
  };
}

function wayOf({ target }: PlannedFault): Way {
  return WAYS[Math.floor(((target * 7_919) % 1) * WAYS.length)] ?? 'thrown away';
}
