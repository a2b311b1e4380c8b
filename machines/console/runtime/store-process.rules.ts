// When the process of an embedded database is started again, how long that waits, and when nobody tries any more.
import {
  STORE_BACKOFF_MAX_MS,
  STORE_BACKOFF_MIN_MS,
  STORE_FIRST_STARTS_MAX,
  STORE_PROBE_FAILURES_MAX,
  STORE_RESTART_WINDOW_MS,
  STORE_RESTARTS_MAX,
} from '../../limits.ts';

const REASON_MAX_CHARS = 1_000;

/** The restarts that still count at a time. */
export function restartsInWindow(restartsAtMs: readonly number[], atMs: number): number[] {
  return restartsAtMs.filter((one) => one > atMs - STORE_RESTART_WINDOW_MS);
}

/**
 * Whether one more restart is allowed. A store that never answered since the Console began is tried a few times only:
 * what keeps it from starting is then a fault of the machine or its folders, and the operator should read it at once.
 */
export function mayRestart(facts: {
  readonly restartsAtMs: readonly number[];
  readonly atMs: number;
  readonly wasReady: boolean;
}): boolean {
  const restartsMax = facts.wasReady ? STORE_RESTARTS_MAX : STORE_FIRST_STARTS_MAX - 1;
  return restartsInWindow(facts.restartsAtMs, facts.atMs).length < restartsMax;
}

/** The wait before the latest of these restarts: it doubles with every restart of the window, up to a bound. */
export function restartDelayMs(restarts: number): number {
  const doublings = Math.min(Math.max(0, restarts - 1), 31);
  return Math.min(STORE_BACKOFF_MAX_MS, STORE_BACKOFF_MIN_MS * 2 ** doublings);
}

/** Whether one more unanswered probe makes the store count as hung. */
export function isHungAfter(probeFailures: number): boolean {
  return probeFailures + 1 >= STORE_PROBE_FAILURES_MAX;
}

/** A failure as text for people: the message, cut, never a stack. */
export function storeReasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.slice(0, REASON_MAX_CHARS);
}
