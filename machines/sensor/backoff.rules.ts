// Waiting times between tries: doubling between two bounds, spread by a jitter that is a pure function of a seed and the
// number of failures, so that a fleet does not come back in one instant and a test sees the same delays every time.
// decision: D9

/** A number in [0, 1) that looks random and is the same for the same seed and count. Total. */
export function jitterOf(seed: number, count: number): number {
  let mixed = (Math.imul(seed | 0, 0x9e3779b1) ^ Math.imul((count | 0) + 1, 0x85ebca6b)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39) >>> 0;
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}

export type Backoff = {
  /** Failures in a row, 1 for the first. */
  readonly failures: number;
  readonly minMs: number;
  readonly maxMs: number;
  readonly seed: number;
};

/** The wait after the n-th failure: in [min*2^(n-1), min*2^n], its upper end capped at max, never below min. */
export function backoffMs({ failures, minMs, maxMs, seed }: Backoff): number {
  const doublings = Math.min(30, Math.max(1, failures));
  const upper = Math.max(minMs, Math.min(maxMs, minMs * 2 ** doublings));
  const lower = Math.max(minMs, upper / 2);
  return lower + (upper - lower) * jitterOf(seed, failures);
}

/** A wait that a server asked for wins when it is longer; what it may ask for is bounded. */
export function obeyRetryAfter(waitMs: number, retryAfterMs: number | null, maxMs: number): number {
  if (retryAfterMs === null || !Number.isFinite(retryAfterMs)) return waitMs;
  return Math.max(waitMs, Math.min(Math.max(0, retryAfterMs), maxMs));
}
