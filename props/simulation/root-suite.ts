// Runs in which the root of the authority is changed, in peace and in haste, while nodes and Consoles die and ways are cut.
import type { Options } from './options.ts';
import { CALM, SHORT_LIVES } from './planted/settings.ts';
import { itHoldsOver } from './rough-suite.ts';

const ROUGH: Omit<Options, 'seed' | 'profile'> = {
  ...{ ...CALM, sensors: 2, hours: 0.4, faultsPerHour: 60, intervals: SHORT_LIVES },
  kinds: [
    ...(['console.new_root', 'console.new_root', 'console.kill', 'node.kill'] as const),
    ...(['node.stop', 'network.cut', 'network.reset', 'relational.away'] as const),
  ],
};

/** Declares one test for each seed: it holds, and roots were changed. */
export function itOutlivesRootsOver(seeds: readonly string[]): void {
  itHoldsOver(seeds, {
    promise: 'loses no node and lets in no stranger when the root changes',
    options: ROUGH,
    seen: { 'roots.changed': 2 },
  });
}
