// What an answer of a SIEM means, and how long to wait for the next try. All pure. decision: D153
import {
  SIEM_BACKOFF_MAX_MS,
  SIEM_BACKOFF_MIN_MS,
  SIEM_BATCH_EVENTS_MAX,
  SIEM_RETRY_AFTER_MAX_MS,
} from './limits.ts';

/** A place in the order of receipt: everything up to and including it is done with. */
export type SiemCursor = { readonly receivedAtMs: number; readonly eventId: string };

export function isSameCursor(a: SiemCursor, b: SiemCursor): boolean {
  return a.receivedAtMs === b.receivedAtMs && a.eventId === b.eventId;
}

/** What a status says: taken, try again, never this batch, or never from us. */
export function verdictOfStatus(status: number): 'accepted' | 'again' | 'refused' | 'unauthorized' {
  if (status >= 200 && status < 300) return 'accepted';
  if (status === 401 || status === 403) return 'unauthorized';
  // Whether it is the address or the receiver that is wrong, the same events may be taken later.
  return REFUSED.has(status) ? 'refused' : 'again';
}
const REFUSED: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/** Doubling from 2 s to 10 min, spread by chance (0 to 1), never before the receiver wants it, within an hour. */
export function waitMs(of: {
  readonly failures: number;
  readonly chance: number;
  readonly retryAfterMs: number | null;
}): number {
  const doublings = Math.min(Math.max(0, of.failures - 1), 31);
  const plain = Math.min(SIEM_BACKOFF_MAX_MS, SIEM_BACKOFF_MIN_MS * 2 ** doublings);
  const wanted = Math.min(SIEM_RETRY_AFTER_MAX_MS, Math.max(0, of.retryAfterMs ?? 0));
  return Math.max(Math.round(plain * (1 - 0.2 * of.chance)), wanted);
}

/** How many events the next batch may have after one was taken. */
export function grown(batchEvents: number): number {
  return Math.min(SIEM_BATCH_EVENTS_MAX, batchEvents * 2);
}
