// Rules of the Sensor's stream that can be read without its machine. decision: D6, D9
import { STREAM_MISSED_PONGS_MAX, STREAM_PING_INTERVAL_MS } from '../limits.ts';

export type OpenOutcome =
  | { readonly kind: 'opened' }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs: number | null };

/** The claim a tick found: its number, or none. */
export type TickClaim = { readonly sequence: number; readonly isFull: boolean } | null;

/** How long the Console may be silent before the socket counts as dead: its pings, plus one to be fair. */
export function silenceMaxMs(pingIntervalMs: number = STREAM_PING_INTERVAL_MS): number {
  return pingIntervalMs * (STREAM_MISSED_PONGS_MAX + 1);
}
