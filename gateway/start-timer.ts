// A timer that returns its own cancel, as the body reader wants it.
import type { Timers } from '../storage/ports/plumbing/clock.ts';

/** Starts timers of a clock. */
export function startTimerOf(time: Timers): (run: () => void, delayMs: number) => () => void {
  return (run, delayMs) => {
    const timer = time.setTimeout(run, delayMs);
    return () => time.clearTimeout(timer);
  };
}
