// The simulated fleet as a part of every test run: pinned seeds of the smoke profile, and the promise that a seed says
// everything. A failing seed is replayed by the command in its message.
import { describe, expect, it } from 'vitest';
import { drawOptions } from './options.ts';
import { runSimulation } from './run.ts';

const SEEDS = 40;
/** For a machine that is busy with other things; it takes half a minute of a core. */
const TIME_MAX_MS = 360_000;

describe('the simulated fleet', () => {
  it(
    'always keeps its promises and always recovers, over the pinned seeds of the smoke profile',
    async () => {
      for (let seed = 1; seed <= SEEDS; seed += 1) {
        const result = await runSimulation(drawOptions(String(seed), 'smoke'));
        const { outcome, violations, crashes } = result;
        const replay = `npm run simulate -- --seed ${seed} --profile smoke`;
        expect({ outcome, violations, crashes }, replay).toEqual({
          outcome: 'held',
          violations: [],
          crashes: [],
        });
        expect(result.observations['heartbeat.taken'], replay).toBeGreaterThan(0);
      }
    },
    TIME_MAX_MS,
  );

  it('always tells the same story of the same seed', async () => {
    for (const seed of ['1', '2', '3']) {
      const options = drawOptions(seed, 'smoke', { hours: 0.2 });
      const first = await runSimulation(options);
      const second = await runSimulation(options);
      expect(second.hash).toBe(first.hash);
      expect(second.steps).toBe(first.steps);
    }
  });

  it('never tells the same story of two seeds', async () => {
    const hashes = new Set<string>();
    for (const seed of ['1', '2', '3']) {
      hashes.add((await runSimulation(drawOptions(seed, 'smoke', { hours: 0.1 }))).hash);
    }
    expect(hashes.size).toBe(3);
  });
});
