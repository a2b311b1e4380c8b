// Time as a process has it.
import type { Time } from '../../storage/ports/plumbing/clock.ts';

/** The process's own time. */
export const processTime: Time = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  setTimeout: (run, delayMs) => setTimeout(run, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};
