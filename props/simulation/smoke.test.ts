// The simulated fleet as a part of every test run: a short pinned seed with every kind of accident, and the promise that a seed says
// everything. `smoke.services.test.ts` goes on with more seeds, and each CI run with fresh ones.
import { describe, expect, it } from 'vitest';
import { drawOptions } from './options.ts';
import { runSimulation } from './run.ts';
import { itHoldsOver } from './smoke-suite.ts';

describe('the simulated fleet', () => {
  itHoldsOver([13]);

  it('always tells the same story of the same seed', async () => {
    const options = drawOptions('2', 'smoke', { hours: 0.05 });
    const first = await runSimulation(options);
    const second = await runSimulation(options);
    expect(second.hash).toBe(first.hash);
    expect(second.steps).toBe(first.steps);
  });

  it('never tells the same story of two seeds', async () => {
    const hashes = new Set<string>();
    for (const seed of ['1', '2']) {
      hashes.add((await runSimulation(drawOptions(seed, 'smoke', { hours: 0.02 }))).hash);
    }
    expect(hashes.size).toBe(2);
  });
});
