// Time as the Console has it: the wall clock for dates, monotonic time for ages, timers for the stores.
import type { Timers } from '../../storage/ports/plumbing/clock.ts';

export type Time = Timers & {
  /** Milliseconds that never go back. */
  monotonicNow(): number;
};

/** The process's own time. */
export const processTime: Time = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  setTimeout: (run, delayMs) => setTimeout(run, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};
