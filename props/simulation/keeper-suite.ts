// Runs in which somebody keeps alert rules and saved searches while Consoles, nodes, stores and the network fail.
import { expect, it } from 'vitest';
import type { Options } from './options.ts';
import { CALM } from './planted/settings.ts';
import { runSimulation } from './run.ts';

const PATIENCE_MS = 300_000;
const ROUGH: Omit<Options, 'seed' | 'profile'> = {
  ...{ ...CALM, keepers: 1, hours: 0.4, quietMs: 4_000, faultsPerHour: 60 },
  kinds: [
    ...(['console.kill', 'console.stop', 'analytics.unsure'] as const),
    ...(['relational.away', 'network.cut', 'node.kill'] as const),
  ],
};

/** Declares one test for each seed: it holds, and alerts were worked on. */
export function itKeepsRulesOver(seeds: readonly string[]): void {
  it.each(seeds)(
    'always counts each match once, over accidents: seed %s',
    async (seed) => {
      const result = await runSimulation({ ...ROUGH, seed, profile: 'smoke' });
      const { outcome, violations, crashes } = result;
      expect({ outcome, violations, crashes }).toEqual({
        ...{ outcome: 'held', violations: [], crashes: [] },
      });
      expect(result.observations['rule.told']).toBeGreaterThan(0);
      expect(result.observations['alert.told']).toBeGreaterThan(0);
    },
    PATIENCE_MS,
  );
}
