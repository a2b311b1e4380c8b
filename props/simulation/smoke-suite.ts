// Pinned seeds of the smoke profile. A failing seed is replayed by the command in its message.
import { expect, it } from 'vitest';
import { drawOptions } from './options.ts';
import { runSimulation } from './run.ts';

/** For a machine that is busy with other things; a seed takes some seconds of a core. */
const TIME_MAX_MS = 1_800_000;

/** Declares a test for each seed: it holds and has seen heartbeats. */
export function itHoldsOver(seeds: readonly number[]): void {
  it.each(seeds)(
    'always keeps its promises and always recovers, over the pinned seed %i',
    async (seed) => {
      const result = await runSimulation(drawOptions(String(seed), 'smoke'));
      const { outcome, violations, crashes } = result;
      const replay = `npm run simulate -- --seed ${seed} --profile smoke`;
      expect({ outcome, violations, crashes }, replay).toEqual({
        outcome: 'held',
        violations: [],
        crashes: [],
      });
      expect(result.observations['heartbeat.taken'], replay).toBeGreaterThan(0);
    },
    TIME_MAX_MS,
  );
}
