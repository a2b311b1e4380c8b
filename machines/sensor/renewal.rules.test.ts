import { describe, expect, it } from 'vitest';
import { RENEWAL_CHECK_MAX_MS } from '../limits.ts';
import { isOverlapOver, isRenewalTime, nextLookMs, trustStateAt } from './renewal.rules.ts';

const DAY_MS = RENEWAL_CHECK_MAX_MS;
const NOW_MS = 100 * DAY_MS;
const TICK_MS = 100;
const DATES = { notAfterMs: NOW_MS, overlapEndsMs: null, recommendedMs: 3_000, dueMs: 1_000 };

describe('renewal rules', () => {
  it.each([
    [3_001, 'trusted', false],
    [3_000, 'renewal_recommended', true],
    [1_001, 'renewal_recommended', true],
    [1_000, 'renewal_due', true],
    [-1, 'renewal_due', true],
  ])('should with %d ms left be %s, and time to renew: %s', (leftMs, state, isTime) => {
    const notAfterMs = NOW_MS + leftMs;
    expect(trustStateAt(notAfterMs, NOW_MS, DATES)).toBe(state);
    expect(isRenewalTime({ ...DATES, notAfterMs }, NOW_MS)).toBe(isTime);
  });

  it('should end the overlap at its last instant, and never one that does not run', () => {
    expect(isOverlapOver({ ...DATES, overlapEndsMs: NOW_MS }, NOW_MS - 1)).toBe(false);
    expect(isOverlapOver({ ...DATES, overlapEndsMs: NOW_MS }, NOW_MS)).toBe(true);
    expect(isOverlapOver(DATES, NOW_MS)).toBe(false);
  });

  it.each([
    ['the window', NOW_MS + 3_000 + 5_000, null, 5_000],
    ['the end of the overlap', NOW_MS + 3_000 + 5_000, NOW_MS + 4_000, 4_000],
    ['the window before the overlap', NOW_MS + 3_000 + 5_000, NOW_MS + 6_000, 5_000],
    ['at most a day', NOW_MS + 9 * DAY_MS, null, DAY_MS],
    ['a day once all is past', NOW_MS - 5_000, NOW_MS - 1, DAY_MS],
    ['a day when both are now', NOW_MS + 3_000, NOW_MS, DAY_MS],
    ['at least a tick', NOW_MS + 3_000 + 1, null, TICK_MS],
  ])('should sleep until %s', (_, notAfterMs, overlapEndsMs, untilMs) => {
    expect(nextLookMs({ ...DATES, notAfterMs, overlapEndsMs }, NOW_MS)).toBe(untilMs);
  });
});
