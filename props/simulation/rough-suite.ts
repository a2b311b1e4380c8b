// Runs of the simulated fleet in which something of its own goes on while much else fails.
import { expect, it } from 'vitest';
import type { Options } from './options.ts';
import { runSimulation } from './run.ts';

const PATIENCE_MS = 300_000;

/** Declares one test for each seed: it holds, and of each of these observations more were made than `seen` says. */
export function itHoldsOver(
  seeds: readonly string[],
  what: {
    readonly promise: string;
    readonly options: Omit<Options, 'seed' | 'profile'>;
    readonly seen: Readonly<Record<string, number>>;
  },
): void {
  it.each(seeds)(
    `${what.promise}, over accidents: seed %s`,
    async (seed) => {
      const result = await runSimulation({ ...what.options, seed, profile: 'smoke' });
      const { outcome, violations, crashes } = result;
      expect({ outcome, violations, crashes }).toEqual({
        ...{ outcome: 'held', violations: [], crashes: [] },
      });
      for (const [kind, most] of Object.entries(what.seen)) {
        expect(result.observations[kind] ?? 0, kind).toBeGreaterThan(most);
      }
    },
    PATIENCE_MS,
  );
}
