// Accidents at the start of a node: what its Sensor needs is not there, or it is stopped before it has begun.

import type { DiskFault } from '../world/disk-faults.ts';
import { BOOT_ID, ENGINE_DIR, type NodeHost, STATE_DIR, statOf } from '../world/node-host.ts';
import { type FleetParts, overAtOnce, targetOf } from './fleet-parts.ts';
import type { FaultEffect, FaultKind } from './kinds.ts';

type StartKind = Extract<FaultKind, 'node.stop_at_start' | 'node.bad_start'>;
/** A stop comes so long after the start at most. */
const STOP_WITHIN_MS = 8_000;
/** The process of a second Sensor on the same directory, and when it began. */
const OTHER = { pid: 4_242, startedAt: 77 } as const;

/** The effects by kind. */
export function startFaults(fleet: FleetParts): Readonly<Record<StartKind, FaultEffect>> {
  const { scheduler } = fleet.world;
  return {
    'node.bad_start': (fault) => {
      const node = targetOf(fleet.nodes, fault);
      if (!node.isUp()) return overAtOnce;
      node.end('killed');
      const hindrances = [
        without(node, 'readOnly'),
        without(node, 'foreign'),
        without(node, 'unreadable'),
        without(node, 'unreadable', `${STATE_DIR}/events.jsonl`),
        occupied(node),
        withoutEngine(node),
      ];
      const hinder = hindrances[Math.floor(fault.severity * hindrances.length)] ?? occupied(node);
      const end = hinder();
      node.start();
      return end;
    },
    'node.stop_at_start': (fault) => {
      const node = targetOf(fleet.nodes, fault);
      const { faults } = node.disk;
      if (!node.isUp()) return overAtOnce;
      node.end('killed');
      // On a fast disk a start takes no time; on a dead one it never ends.
      const how = (['slow', 'slow', 'hang'] as const)[Math.floor(fault.target * 97) % 3] ?? 'slow';
      faults.turnOn(how);
      node.start();
      scheduler.after(fault.severity ** 2 * STOP_WITHIN_MS, node.stop);
      return () => {
        faults.turnOff(how);
        node.start();
      };
    },
  };
}

/** The disk refuses, everywhere or in one place. */
function without({ disk: { faults } }: NodeHost, kind: DiskFault, where = '/'): () => () => void {
  return () => {
    faults.turnOn(kind, where);
    return () => faults.turnOff(kind, where);
  };
}

/** Another Sensor holds the state directory. */
function occupied({ disk }: NodeHost): () => () => void {
  const { pid, startedAt } = OTHER;
  return () => {
    disk.setKernelFile(`/proc/${pid}/stat`, statOf(pid, startedAt));
    disk.write(`${STATE_DIR}/.lock.${BOOT_ID.slice(0, 8)}.${pid}.${startedAt}`, '');
    return () => disk.setKernelFile(`/proc/${pid}/stat`, null);
  };
}

/** The engine's files are gone and cannot be put in place. */
function withoutEngine(node: NodeHost): () => () => void {
  return () => {
    node.engine.removeFiles();
    return without(node, 'readOnly', ENGINE_DIR)();
  };
}
