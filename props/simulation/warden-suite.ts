// Runs in which somebody cuts nodes off and lets them go, while nodes and Consoles die, power is lost and ways are cut.
import type { Options } from './options.ts';
import { CALM } from './planted/settings.ts';
import { itHoldsOver } from './rough-suite.ts';

const ROUGH: Omit<Options, 'seed' | 'profile'> = {
  ...{ ...CALM, sensors: 2, wardens: 1, hours: 0.6, faultsPerHour: 60 },
  kinds: [
    ...(['console.kill', 'console.stop', 'relational.away', 'relational.unsure'] as const),
    ...(['network.cut', 'node.kill', 'node.power_loss', 'node.kill_at_call', 'disk.full'] as const),
  ],
};

/** Declares one test for each seed: it holds, and nodes were cut off and let go. */
export function itContainsOver(seeds: readonly string[]): void {
  itHoldsOver(seeds, {
    promise: 'never frees a node that nobody let go',
    options: ROUGH,
    seen: { 'filter.applied': 0, 'filter.lifted': 0 },
  });
}
