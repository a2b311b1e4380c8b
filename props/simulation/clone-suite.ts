// Runs in which nodes are cloned, while nodes and Consoles die, ways are cut and certificates are renewed by both.
import type { Options } from './options.ts';
import { CALM, SHORT_LIVES } from './planted/settings.ts';
import { itHoldsOver } from './rough-suite.ts';

const ROUGH: Omit<Options, 'seed' | 'profile'> = {
  ...{ ...CALM, sensors: 2, hours: 0.3, faultsPerHour: 60, intervals: SHORT_LIVES },
  kinds: [
    ...(['node.clone', 'node.clone', 'node.kill', 'node.stop', 'console.kill'] as const),
    ...(['network.cut', 'network.reset', 'relational.away', 'analytics.away'] as const),
  ],
};

/** Declares one test for each seed: it holds, and nodes were copied. */
export function itIsToldOfClonesOver(seeds: readonly string[]): void {
  itHoldsOver(seeds, {
    promise: 'loses nothing and stays silent about nothing when a node is cloned',
    options: ROUGH,
    seen: { 'node.copied': 1 },
  });
}
