// The sample of a folder: every line can be drawn, and the seed alone says which are.
import { describe, expect, it } from 'vitest';
import { drawn, windowsOf } from './sample.ts';

const windows = windowsOf([
  { file: 'a.ts', lines: 51 },
  { file: 'b.ts', lines: 25 },
  { file: 'c.ts', lines: 924 },
]);
const linesOf = (taken: typeof windows) =>
  taken.flatMap(({ file, from, to }) =>
    Array.from({ length: to - from + 1 }, (_, at) => `${file}:${from + at}`),
  );

describe('the windows of a folder', () => {
  it('should hold every line of every file once', () => {
    expect(windows.slice(0, 4)).toEqual([
      { file: 'a.ts', from: 1, to: 25 },
      { file: 'a.ts', from: 26, to: 50 },
      { file: 'a.ts', from: 51, to: 51 },
      { file: 'b.ts', from: 1, to: 25 },
    ]);
    expect(new Set(linesOf(windows)).size).toBe(1_000);
    expect(linesOf(windows)).toHaveLength(1_000);
  });
});

describe('a sample', () => {
  it('should reach the share or the number of lines that was asked for, by at most a window more', () => {
    for (let seed = 0; seed < 50; seed += 1) {
      for (const wanted of [0.2, 200]) {
        const lines = linesOf(drawn(windows, wanted, seed));
        expect(new Set(lines).size).toBe(lines.length);
        expect(lines.length).toBeGreaterThanOrEqual(200);
        expect(lines.length).toBeLessThan(225);
      }
    }
  });

  it('should be the same by the same seed, another by another, and reach every window by some', () => {
    const of = (seed: number) => JSON.stringify(drawn(windows, 0.2, seed));
    expect(of(7)).toBe(of(7));
    const seeds = Array.from({ length: 100 }, (_, seed) => seed);
    expect(new Set(seeds.map(of)).size).toBe(100);
    const reached = seeds.flatMap((seed) => linesOf(drawn(windows, 0.2, seed)));
    expect(new Set(reached).size).toBe(1_000);
  });

  it('should be the whole folder for a share of one', () => {
    expect(linesOf(drawn(windows, 1, 3))).toHaveLength(1_000);
  });
});
