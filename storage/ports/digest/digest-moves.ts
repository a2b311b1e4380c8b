// What becomes of runs, the same in every store. decision: D166
import {
  type DigestStanding,
  digestRunAfter,
  newDigestRun,
} from '../../../machines/console/digest/standing.ts';

const LOST_REASON = 'The Console that sent it is gone; it may have arrived.';
const MISSED_REASON = 'The Console did not run, or not long enough.';

/** One whose first attempt begins. */
export function begunFirst(nowMs: number): DigestStanding {
  return begunAgain(newDigestRun(nowMs), nowMs);
}

/** One whose next attempt begins. */
export function begunAgain<Run extends DigestStanding>(run: Run, nowMs: number): Run {
  return { ...run, ...digestRunAfter(run, { type: 'attempt.began', atMs: nowMs }) };
}

/** One that nobody tried. */
export function missedRun(nowMs: number): DigestStanding {
  const event = { type: 'day.passed', atMs: nowMs, reason: MISSED_REASON } as const;
  return digestRunAfter(newDigestRun(nowMs), event);
}

/** One that nobody settled. */
export function lostRun<Run extends DigestStanding>(run: Run, nowMs: number): Run {
  const event = { type: 'run.lost', atMs: nowMs, reason: LOST_REASON } as const;
  return { ...run, ...digestRunAfter(run, event) };
}
