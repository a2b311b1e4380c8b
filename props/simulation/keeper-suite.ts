// Runs in which somebody keeps alert rules and saved searches while Consoles, nodes, stores and the network fail.
import type { Options } from './options.ts';
import { CALM } from './planted/settings.ts';
import { itHoldsOver } from './rough-suite.ts';

const ROUGH: Omit<Options, 'seed' | 'profile'> = {
  ...{ ...CALM, keepers: 1, hours: 0.4, quietMs: 4_000, faultsPerHour: 60 },
  kinds: [
    ...(['console.kill', 'console.stop', 'analytics.unsure'] as const),
    ...(['relational.away', 'network.cut', 'node.kill'] as const),
  ],
};

/** Declares one test for each seed: it holds, and alerts were worked on. */
export function itKeepsRulesOver(seeds: readonly string[]): void {
  itHoldsOver(seeds, {
    promise: 'always counts each match once',
    options: ROUGH,
    seen: { 'rule.told': 0, 'alert.told': 0 },
  });
}
