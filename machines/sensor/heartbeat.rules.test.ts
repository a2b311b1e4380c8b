import { describe, expect, it } from 'vitest';
import { HEARTBEAT_EVENTS_MAX, STREAM_FRAME_EVENTS_MAX } from '../limits.ts';
import { jitterOf } from './backoff.rules.ts';
import { acceptInterval, type Backlog, heartbeatDelayMs, needsDrain } from './heartbeat.rules.ts';

describe('acceptInterval', () => {
  it.each([
    [10_000, 15_000, 15_000, 10_000],
    [null, 12_000, 15_000, 12_000],
    [Number.NaN, 12_000, 15_000, 12_000],
    [1, 12_000, 15_000, 5_000],
    [90_000, 12_000, 15_000, 30_000],
    [10_000, 12_000, 5_000, 10_000],
    [10_000, 12_000, 4_999, 4_999],
  ])('should for %d asked, %d kept, %d configured keep %d', (asked, current, configured, kept) => {
    expect(acceptInterval(asked, current, configured)).toBe(kept);
  });
});

describe('heartbeatDelayMs', () => {
  it('should be the interval give or take a tenth, by the jitter', () => {
    for (let beats = 0; beats < 20; beats += 1) {
      const delayMs = heartbeatDelayMs(10_000, 3, beats);
      expect(delayMs).toBeCloseTo(9_000 + 2_000 * jitterOf(3, beats), 6);
    }
  });
});

describe('needsDrain', () => {
  const NONE: Backlog = {
    depth: 0,
    isStreamOpen: false,
    hadFailed: false,
    hasStrandedClaim: false,
  };
  it.each<[boolean, Partial<Backlog>]>([
    [false, { hadFailed: true, hasStrandedClaim: true }],
    [false, { depth: 1 }],
    [true, { depth: 1, hadFailed: true }],
    [true, { depth: 1, hasStrandedClaim: true }],
    [false, { depth: HEARTBEAT_EVENTS_MAX }],
    [true, { depth: HEARTBEAT_EVENTS_MAX + 1 }],
    [
      false,
      {
        depth: STREAM_FRAME_EVENTS_MAX,
        isStreamOpen: true,
        hadFailed: true,
      },
    ],
    [true, { depth: 1, isStreamOpen: true, hasStrandedClaim: true }],
    [true, { depth: STREAM_FRAME_EVENTS_MAX + 1, isStreamOpen: true }],
  ])('should say %s of %o', (expected, backlog) => {
    expect(needsDrain({ ...NONE, ...backlog })).toBe(expected);
  });
});
