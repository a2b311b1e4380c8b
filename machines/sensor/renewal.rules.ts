// When to renew, by the dates of the certificate and the wall clock, and how long to sleep until the next look.
import { CLOCK_JUMP_MS, RENEWAL_CHECK_MAX_MS } from '../limits.ts';
import { renewalWindow } from '../trust/certificate.rules.ts';

export type RenewalDates = {
  readonly notAfterMs: number;
  /** When the previous certificate's overlap ends; null without a previous one. */
  readonly overlapEndsMs: number | null;
  readonly recommendedMs: number;
  readonly dueMs: number;
};

export type RenewalOutcome =
  | { readonly kind: 'renewed'; readonly notAfterMs: number; readonly overlapEndsMs: number }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs: number | null };

/** What the first request with a new certificate taught. */
export type TrialOutcome = 'accepted' | 'rejected' | 'unreachable';

/** The trust state that a certificate's dates give at one instant; a revocation stands above it. invariant: I3 */
export function trustStateAt(
  notAfterMs: number,
  nowMs: number,
  windows: Pick<RenewalDates, 'recommendedMs' | 'dueMs'>,
): 'trusted' | 'renewal_recommended' | 'renewal_due' {
  const window = renewalWindow(notAfterMs, nowMs, windows);
  return window === 'ok' ? 'trusted' : window;
}

/** Whether the certificate is inside a renewal window. A certificate from the future is merely not due. */
export function isRenewalTime(dates: RenewalDates, nowMs: number): boolean {
  return renewalWindow(dates.notAfterMs, nowMs, dates) !== 'ok';
}

/** Whether the previous certificate has outlived its overlap. */
export function isOverlapOver(dates: RenewalDates, nowMs: number): boolean {
  return dates.overlapEndsMs !== null && nowMs >= dates.overlapEndsMs;
}

/** Sleep until the window or the overlap's end, whichever is first; at most a day, at least a clock tick. */
export function nextLookMs(dates: RenewalDates, nowMs: number): number {
  const candidates = [dates.notAfterMs - dates.recommendedMs, dates.overlapEndsMs].filter(
    (at): at is number => at !== null && at > nowMs,
  );
  const untilMs = Math.min(...candidates, nowMs + RENEWAL_CHECK_MAX_MS) - nowMs;
  return Math.max(CLOCK_JUMP_MS / 10, untilMs);
}
