// The canary: each planted bug is found at its pinned seed by the checker that must find it. A checker that no bug can
// wake proves nothing. `planted.services.test.ts` has the slow ones, `sound.services.test.ts` runs the same seeds without
// the bug.
import { describe, expect, it } from 'vitest';
import { CHECKERS } from '../checkers/all.ts';
import { PLANTED } from './all.ts';
import { describeBugs, SLOW } from './planted-suite.ts';

describe('planted bugs', () => {
  it('should be at least one for every checker, and one for liveness', () => {
    const found = new Set(PLANTED.map((bug) => bug.foundBy));
    const wanted = [...CHECKERS.map((checker) => checker.name), 'liveness'];

    expect(wanted.filter((name) => !found.has(name))).toEqual([]);
    expect([...found].filter((name) => !wanted.includes(name))).toEqual([]);
    expect(new Set(PLANTED.map((bug) => bug.name)).size).toBe(PLANTED.length);
  });

  it('should all be there of those that are called slow', () => {
    const names = new Set(PLANTED.map(({ name }) => name));
    expect([...SLOW].filter((name) => !names.has(name))).toEqual([]);
  });

  describeBugs((name) => !SLOW.has(name));
});
