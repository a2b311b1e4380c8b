// Accidents on the way between a node and its Consoles.
import type { Link } from '../world/network.ts';
import { type FleetParts, targetOf } from './fleet-parts.ts';
import type { FaultEffect, FaultKind } from './kinds.ts';

/** The effects by kind. */
export function networkFaults(
  fleet: FleetParts,
): Readonly<Record<Extract<FaultKind, `network.${string}`>, FaultEffect>> {
  const setting =
    (change: (severity: number) => Partial<Link>): FaultEffect =>
    (fault) => {
      const link = fleet.network.link(targetOf(fleet.nodes, fault).name);
      const wanted = change(fault.severity);
      const before = Object.fromEntries(
        Object.keys(wanted).map((name) => [name, link[name as keyof Link]]),
      );
      Object.assign(link, wanted);
      return () => void Object.assign(link, before);
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
