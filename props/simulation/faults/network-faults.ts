// Accidents on the way between a node and its Consoles.
import { CALM_LINK, type Link } from '../world/network.ts';
import { type FleetParts, targetOf } from './fleet-parts.ts';
import type { FaultEffect, FaultKind } from './kinds.ts';

/** The effects by kind. */
export function networkFaults(
  fleet: FleetParts,
): Readonly<Record<Extract<FaultKind, `network.${string}`>, FaultEffect>> {
  /** What accidents that go on want of the way of a node, in the order in which they began. */
  const ongoing = new Map<string, Partial<Link>[]>();
  const setting =
    (change: (severity: number) => Partial<Link>): FaultEffect =>
    (fault) => {
      const { name: node } = targetOf(fleet.nodes, fault);
      const link = fleet.network.link(node);
      const own = change(fault.severity);
      const all = ongoing.get(node) ?? [];
      ongoing.set(node, all);
      all.push(own);
      Object.assign(link, own);
      return () => {
        all.splice(all.indexOf(own), 1);
        // One that began meanwhile goes on, and one that is over does not come back.
        const left: Link = Object.assign({}, CALM_LINK, ...all);
        for (const name of Object.keys(own) as (keyof Link)[]) {
          Object.assign(link, { [name]: left[name] });
        }
      };
    };
  return {
    'network.cut': setting(() => ({ cut: 'both' })),
    'network.one_way': setting((severity) => ({ cut: severity < 0.5 ? 'up' : 'down' })),
    'network.lossy': setting((severity) => ({ loss: 0.05 + severity * 0.4 })),
    'network.slow': setting((severity) => ({ latencyMs: 50 + severity * 4_000, jitterMs: 2_000 })),
    'network.replay': setting((severity) => ({ replay: 0.1 + severity * 0.5 })),
    'network.reset': setting((severity) => ({ reset: 0.1 + severity * 0.8 })),
    'network.slow_reader': setting(() => ({ slowReader: true })),
    'network.version_skew': setting((severity) => ({
      newer: severity < 0.5 ? 'sensor' : 'console',
    })),
    'network.partition': setting((severity) => {
      const { consoles } = fleet;
      const lost = consoles[Math.floor(severity * consoles.length)];
      return { without: lost?.name ?? '' };
    }),
  };
}
