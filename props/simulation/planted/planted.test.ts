// The canary: each planted bug is found at its pinned seed by the checker that must find it. A checker that no bug can
// wake proves nothing. `sound.services.test.ts` runs the same seeds without the bug.
import { describe, expect, it } from 'vitest';
import { CHECKERS } from '../checkers/all.ts';
import { runSimulation } from '../run.ts';
import { PLANTED } from './all.ts';
import { isFound, optionsFor } from './find.ts';

/** For a machine that is busy with other things; a run takes a fraction of a second of a core. */
const PATIENCE_MS = 120_000;

describe('planted bugs', () => {
  it('should be at least one for every checker, and one for liveness', () => {
    const found = new Set(PLANTED.map((bug) => bug.foundBy));
    const wanted = [...CHECKERS.map((checker) => checker.name), 'liveness'];

    expect(wanted.filter((name) => !found.has(name))).toEqual([]);
    expect([...found].filter((name) => !wanted.includes(name))).toEqual([]);
    expect(new Set(PLANTED.map((bug) => bug.name)).size).toBe(PLANTED.length);
  });

  for (const bug of PLANTED) {
    it(`should be found by ${bug.foundBy}: ${bug.name}`, { timeout: PATIENCE_MS }, async () => {
      const options = optionsFor(bug, bug.pinnedSeed);

      const broken = await runSimulation(options, { bug });

      expect(broken.crashes).toEqual([]);
      expect(isFound(bug, broken), JSON.stringify(broken.violations)).toBe(true);
    });
  }
});
