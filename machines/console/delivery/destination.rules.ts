// How many deliveries of a destination may begin now: none while it is paused or its breaker is open, one as a probe,
// otherwise as many as its rate and its share of what runs allow. decision: D102

import { MINUTE_MS } from '../../units.ts';
import {
  BREAKER_OPEN_MAX_MS,
  BREAKER_OPEN_MIN_MS,
  DELIVERIES_RUNNING_PER_WEBHOOK_MAX,
} from './limits.ts';

/** How long a breaker stays open that has opened so often before; doubling, within bounds. */
export function opensForMs(openings: number): number {
  return Math.min(BREAKER_OPEN_MAX_MS, BREAKER_OPEN_MIN_MS * 2 ** Math.min(openings, 31));
}

/** What is left of a destination's rate: tokens that fill up over a minute. */
export type RateBucket = { readonly tokens: number; readonly atMs: number };

/** The bucket at an instant; a clock that went back fills nothing. */
export function refilled(bucket: RateBucket, perMinute: number, nowMs: number): RateBucket {
  const passedMs = Math.max(0, nowMs - bucket.atMs);
  const tokens = Math.min(burstOf(perMinute), bucket.tokens + (passedMs * perMinute) / MINUTE_MS);
  return { tokens, atMs: nowMs };
}

/** A full one. */
export function fullBucket(perMinute: number, nowMs: number): RateBucket {
  return { tokens: burstOf(perMinute), atMs: nowMs };
}

/** How many may begin now. */
export function quotaOf(of: {
  readonly isPaused: boolean;
  readonly breaker: 'closed' | 'open' | 'probing';
  readonly running: number;
  readonly tokens: number;
}): number {
  if (of.isPaused || of.breaker === 'open') return 0;
  const most = of.breaker === 'probing' ? 1 : DELIVERIES_RUNNING_PER_WEBHOOK_MAX;
  return Math.max(0, Math.min(most - of.running, Math.floor(of.tokens)));
}

// A sixth of a minute's share may come at once.
function burstOf(perMinute: number): number {
  return Math.max(1, perMinute / 6);
}
