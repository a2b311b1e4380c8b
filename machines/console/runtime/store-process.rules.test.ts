import { describe, expect, it } from 'vitest';
import {
  STORE_BACKOFF_MAX_MS,
  STORE_BACKOFF_MIN_MS,
  STORE_FIRST_STARTS_MAX,
  STORE_PROBE_FAILURES_MAX,
  STORE_RESTART_WINDOW_MS,
  STORE_RESTARTS_MAX,
} from '../../limits.ts';
import {
  isHungAfter,
  mayRestart,
  restartDelayMs,
  restartsInWindow,
  storeReasonOf,
} from './store-process.rules.ts';

const NOW_MS = 10 * STORE_RESTART_WINDOW_MS;

describe('store process rules', () => {
  it('should count a restart until it is exactly one window old', () => {
    const edge = NOW_MS - STORE_RESTART_WINDOW_MS;
    expect(restartsInWindow([edge - 1, edge, edge + 1, NOW_MS], NOW_MS)).toEqual([
      edge + 1,
      NOW_MS,
    ]);
  });

  it('should allow a store that once answered more restarts than one that never did', () => {
    const allowed = (count: number, wasReady: boolean, ageMs = 0) =>
      mayRestart({ restartsAtMs: Array(count).fill(NOW_MS - ageMs), atMs: NOW_MS, wasReady });
    expect(allowed(STORE_RESTARTS_MAX - 1, true)).toBe(true);
    expect(allowed(STORE_RESTARTS_MAX, true)).toBe(false);
    expect(allowed(STORE_FIRST_STARTS_MAX - 2, false)).toBe(true);
    expect(allowed(STORE_FIRST_STARTS_MAX - 1, false)).toBe(false);
    expect(allowed(STORE_RESTARTS_MAX, true, STORE_RESTART_WINDOW_MS)).toBe(true);
  });

  it('should wait the least time first and never longer than the most', () => {
    expect([0, 1, 2, 3].map(restartDelayMs)).toEqual(
      [1, 1, 2, 4].map((times) => times * STORE_BACKOFF_MIN_MS),
    );
    expect(restartDelayMs(5_000)).toBe(STORE_BACKOFF_MAX_MS);
  });

  it('should count a store as hung with the last probe it may miss', () => {
    expect(isHungAfter(STORE_PROBE_FAILURES_MAX - 2)).toBe(false);
    expect(isHungAfter(STORE_PROBE_FAILURES_MAX - 1)).toBe(true);
  });

  it('should give a reason of bounded length, without a stack', () => {
    expect(storeReasonOf(new Error('no space'))).toBe('no space');
    expect(storeReasonOf('exit 1')).toBe('exit 1');
    expect(storeReasonOf('x'.repeat(5_000))).toBe('x'.repeat(1_000));
  });
});
