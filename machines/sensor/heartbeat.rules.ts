// When the next heartbeat goes out, and when what lies in the spool needs a drain of its own; the heartbeat's actor in
// `sensor/actors/` says how much it takes. decision: D6, D13
import {
  HEARTBEAT_EVENTS_MAX,
  HEARTBEAT_INTERVAL_MAX_MS,
  HEARTBEAT_INTERVAL_MIN_MS,
  HEARTBEAT_JITTER_RATIO,
  STREAM_FRAME_EVENTS_MAX,
} from '../limits.ts';
import { jitterOf } from './backoff.rules.ts';

export type HeartbeatOutcome =
  | {
      readonly kind: 'delivered';
      /** What the Console set; null = unchanged. */
      readonly intervalMs: number | null;
      readonly needsDrain: boolean;
      /** Set while the Console cannot store events: until the next heartbeat at its interval nothing more is sent. */
      readonly retryAfterMs: number | null;
    }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs: number | null };

export type DrainOutcome =
  | { readonly kind: 'more' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'paused'; readonly retryAfterMs: number }
  | { readonly kind: 'failed'; readonly reason: string };

/** The interval to keep: what the Console set, inside 5 to 30 s; a configured interval shorter than that stays. */
export function acceptInterval(asked: number | null, current: number, configured: number): number {
  if (configured < HEARTBEAT_INTERVAL_MIN_MS) return configured;
  if (asked === null || !Number.isFinite(asked)) return current;
  return Math.min(HEARTBEAT_INTERVAL_MAX_MS, Math.max(HEARTBEAT_INTERVAL_MIN_MS, asked));
}

/** The wait before the next heartbeat: the interval give or take a tenth, so that a fleet spreads out. */
export function heartbeatDelayMs(intervalMs: number, seed: number, beats: number): number {
  const spread = (2 * jitterOf(seed, beats) - 1) * HEARTBEAT_JITTER_RATIO;
  return intervalMs * (1 + spread);
}

export type Backlog = {
  readonly depth: number;
  readonly isStreamOpen: boolean;
  readonly hadFailed: boolean;
  /** A numbered batch that only a drain delivers: one of the drain itself, or of a stream that is gone. */
  readonly hasStrandedClaim: boolean;
};

/**
 * While the stream is open it carries a small backlog itself; after an outage the rest goes in large batches. A batch
 * that has its number goes on its own way, whatever else is open.
 */
export function needsDrain(backlog: Backlog): boolean {
  if (backlog.depth === 0) return false;
  if (backlog.hasStrandedClaim) return true;
  if (backlog.isStreamOpen) return backlog.depth > STREAM_FRAME_EVENTS_MAX;
  return backlog.hadFailed || backlog.depth > HEARTBEAT_EVENTS_MAX;
}
