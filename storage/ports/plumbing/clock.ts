// Time as the stores see it: timers and now, handed in so that tests and the simulated fleet can own them.
export type Timers = {
  /** Milliseconds of the wall clock since the epoch. */
  now(): number;
  setTimeout(run: () => void, delayMs: number): unknown;
  clearTimeout(timer: unknown): void;
};

/** Time as the Console has it: the wall clock for dates, monotonic time for ages, timers for the stores. */
export type Time = Timers & {
  /** Milliseconds that never go back. */
  monotonicNow(): number;
};
