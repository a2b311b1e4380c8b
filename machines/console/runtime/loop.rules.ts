// Periodic work of the Console: where a loop runs, when it runs next, and what is kept of its last run. decision: D60
import { LOOP_RETRY_MAX_MS, LOOP_RETRY_MIN_MS } from './loop-limits.ts';

/**
 * Where a loop runs: in every process; in the one process that holds the data directory of its machine; in the one
 * Console of all that is designated.
 */
export const LOOP_PLACES = ['process', 'machine', 'designated'] as const;
export type LoopPlace = (typeof LOOP_PLACES)[number];

/** What a run ended with. Times are milliseconds of the wall clock; the duration is of the monotonic one. */
export type LoopOutcome = {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly durationMs: number;
  readonly failure: string | null;
  /** More work waits: the next run follows at once. */
  readonly hasMore: boolean;
};

/** The last run as it is shown. */
export type LastRun = Omit<LoopOutcome, 'hasMore'>;

/**
 * The wait after a run: none while more waits, the interval after a success, a doubling one after failures. What runs often
 * is not tried again later than it would run: a failure costs nobody more than the others.
 */
export function loopDelayMs(of: {
  readonly everyMs: number;
  readonly failures: number;
  readonly hasMore: boolean;
}): number {
  if (of.failures === 0) return of.hasMore ? 0 : of.everyMs;
  const doublings = Math.min(of.failures - 1, 31);
  const longestMs = Math.min(LOOP_RETRY_MAX_MS, Math.max(LOOP_RETRY_MIN_MS, of.everyMs));
  return Math.min(longestMs, LOOP_RETRY_MIN_MS * 2 ** doublings);
}
