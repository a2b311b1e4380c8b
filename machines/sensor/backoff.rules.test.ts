import { describe, expect, it } from 'vitest';
import { backoffMs, jitterOf, obeyRetryAfter } from './backoff.rules.ts';

const BOUNDS = { minMs: 1_000, maxMs: 30_000, seed: 7 };

describe('jitterOf', () => {
  // Reckoned apart from this code, with 32-bit arithmetic written out.
  it.each([
    [0, 0, 1_368_506_822 / 2 ** 32],
    [1, 1, 1_106_315_618 / 2 ** 32],
    [7, 3, 1_982_730_022 / 2 ** 32],
    [-5, 2, 3_004_773_355 / 2 ** 32],
    [2_147_483_647, 1_000, 4_108_171_316 / 2 ** 32],
  ])('should be known for seed %d and count %d', (seed, count, jitter) => {
    expect(jitterOf(seed, count)).toBe(jitter);
  });

  it('should spread evenly over seeds and counts', () => {
    const tenths = new Array<number>(10).fill(0);
    for (let seed = 0; seed < 100; seed += 1) {
      for (let count = 0; count < 100; count += 1) {
        const tenth = Math.floor(jitterOf(seed, count) * 10);
        tenths[tenth] = (tenths[tenth] ?? 0) + 1;
      }
    }
    expect(Math.min(...tenths)).toBeGreaterThan(900);
    expect(Math.max(...tenths)).toBeLessThan(1_100);
  });
});

describe('backoffMs', () => {
  it.each([
    [0, 1_000, 2_000],
    [1, 1_000, 2_000],
    [2, 2_000, 4_000],
    [4, 8_000, 16_000],
    [5, 15_000, 30_000],
    [6, 15_000, 30_000],
    [5_000, 15_000, 30_000],
  ])('should wait after %d failures between %d and %d ms, by the jitter', (failures, low, high) => {
    const waitMs = backoffMs({ ...BOUNDS, failures });
    expect(waitMs).toBe(low + (high - low) * jitterOf(BOUNDS.seed, failures));
  });

  it('should wait the least time when the bounds leave no room', () => {
    expect(backoffMs({ failures: 3, minMs: 500, maxMs: 100, seed: 1 })).toBe(500);
    expect(backoffMs({ failures: 1, minMs: 500, maxMs: 600, seed: 1 })).toBeGreaterThan(500);
  });
});

describe('obeyRetryAfter', () => {
  it.each([
    [100, null, 100],
    [100, Number.NaN, 100],
    [100, Number.POSITIVE_INFINITY, 100],
    [100, 50, 100],
    [100, 300, 300],
    [100, 900, 500],
    [700, 900, 700],
    [-5, -9, 0],
  ])('should for a wait of %d asked for %d give %d', (waitMs, askedMs, expected) => {
    expect(obeyRetryAfter(waitMs, askedMs, 500)).toBe(expected);
  });
});
