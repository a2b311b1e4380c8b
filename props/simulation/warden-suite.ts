// Runs in which somebody cuts nodes off and lets them go, while nodes and Consoles die, power is lost and ways are cut.
import { expect, it } from 'vitest';
import type { Options } from './options.ts';
import { CALM } from './planted/settings.ts';
import { runSimulation } from './run.ts';

const PATIENCE_MS = 300_000;
const ROUGH: Omit<Options, 'seed' | 'profile'> = {
  ...{ ...CALM, sensors: 2, wardens: 1, hours: 0.6, faultsPerHour: 60 },
  kinds: [
    ...(['console.kill', 'console.stop', 'relational.away', 'relational.unsure'] as const),
    ...(['network.cut', 'node.kill', 'node.power_loss', 'node.kill_at_call', 'disk.full'] as const),
  ],
};

/** Declares one test for each seed: it holds, and nodes were cut off and let go. */
export function itContainsOver(seeds: readonly string[]): void {
  it.each(seeds)(
    'never frees a node that nobody let go, over accidents: seed %s',
    async (seed) => {
      const result = await runSimulation({ ...ROUGH, seed, profile: 'smoke' });
      const { outcome, violations, crashes } = result;
      expect({ outcome, violations, crashes }).toEqual({
        ...{ outcome: 'held', violations: [], crashes: [] },
      });
      expect(result.observations['filter.applied']).toBeGreaterThan(0);
      expect(result.observations['filter.lifted']).toBeGreaterThan(0);
    },
    PATIENCE_MS,
  );
}
