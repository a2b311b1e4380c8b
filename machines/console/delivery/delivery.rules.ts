// What an attempt means for its delivery: accepted, tried again, or given up. All pure; time and chance arrive as values.
// decision: D101
import {
  DELIVERY_BACKOFF_MAX_MS,
  DELIVERY_BACKOFF_MIN_MS,
  DELIVERY_GIVE_UP_MS,
  DELIVERY_JITTER_RATIO,
  DELIVERY_RETRY_AFTER_MAX_MS,
} from './limits.ts';

/** Why no answer came that could be judged. */
export const ATTEMPT_FAILURES = [
  'timed_out',
  'unreachable',
  'address_refused',
  'answer_too_big',
  'secret_unreadable',
  'interrupted',
] as const;
export type AttemptFailure = (typeof ATTEMPT_FAILURES)[number];

export type AttemptOutcome =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfterMs: number | null }
  | { readonly kind: 'failed'; readonly failure: AttemptFailure };

/** The same body would be refused again. */
const REFUSED_FOR_GOOD: ReadonlySet<number> = new Set([400, 410, 413, 414, 415, 422]);
const SUCCESS_FROM = 200;
const SUCCESS_BELOW = 300;

/** What an outcome says: it arrived, it may arrive later, or it never will. */
export function verdictOf(outcome: AttemptOutcome): 'accepted' | 'again' | 'refused' {
  if (outcome.kind === 'failed') return 'again';
  if (outcome.status >= SUCCESS_FROM && outcome.status < SUCCESS_BELOW) return 'accepted';
  return REFUSED_FOR_GOOD.has(outcome.status) ? 'refused' : 'again';
}

/** What the delivery log and the metrics call it. */
export function nameOfOutcome(outcome: AttemptOutcome): string {
  return outcome.kind === 'failed' ? outcome.failure : verdictOf(outcome);
}

/**
 * Milliseconds until the next attempt: doubling from 5 s to an hour, spread by chance (0 to 1), and never before the
 * receiver wants it, within an hour.
 */
export function retryDelayMs(of: {
  readonly attempts: number;
  readonly chance: number;
  readonly retryAfterMs: number | null;
}): number {
  const doublings = Math.min(Math.max(0, of.attempts - 1), 31);
  const plain = Math.min(DELIVERY_BACKOFF_MAX_MS, DELIVERY_BACKOFF_MIN_MS * 2 ** doublings);
  const spread = Math.round(plain * (1 - DELIVERY_JITTER_RATIO * of.chance));
  const wanted = Math.min(DELIVERY_RETRY_AFTER_MAX_MS, Math.max(0, of.retryAfterMs ?? 0));
  return Math.max(spread, wanted);
}

/** When a delivery that begins now is given up. */
export function giveUpAtMs(nowMs: number): number {
  return nowMs + DELIVERY_GIVE_UP_MS;
}

/** Reads a Retry-After in either of its forms; null when there is none that can be understood. */
export function retryAfterMsOf(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) || !/^[A-Za-z]{3},/.test(text) ? null : Math.max(0, atMs - nowMs);
}
