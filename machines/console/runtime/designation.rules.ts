// Which of the Consoles of one database runs the designated loops, judged by the one that does. decision: D60
import { DESIGNATION_SILENCE_MS } from './loop-limits.ts';

/** Whether the lock is still known to be held: proven, and not too long ago. Milliseconds of a monotonic clock. */
export function isProven(provenAtMs: number | null, nowMs: number): boolean {
  return provenAtMs !== null && nowMs - provenAtMs < DESIGNATION_SILENCE_MS;
}
