// The simulated fleet as a part of every test run: a short pinned seed with every kind of accident, and the promise that a seed says
// everything. `smoke.services.test.ts` goes on with more seeds, and each CI run with fresh ones.
import { describe, expect, it } from 'vitest';
import { drawOptions } from './options.ts';
import { runSimulation } from './run.ts';
import { itHoldsOver } from './smoke-suite.ts';

describe('the simulated fleet', () => {
  itHoldsOver([13]);

  it('always tells the same story of the same seed, and another of another', async () => {
    const tell = (seed: string) => runSimulation(drawOptions(seed, 'smoke', { hours: 0.05 }));
    const first = await tell('2');
    const second = await tell('2');
    expect(second.hash).toBe(first.hash);
    expect(second.steps).toBe(first.steps);
    expect((await tell('1')).hash).not.toBe(first.hash);
  });
});
