// Time as the stores see it: timers and now, handed in so that tests and the simulated fleet can own them.
export type Timers = {
  /** Milliseconds of the wall clock since the epoch. */
  now(): number;
  setTimeout(run: () => void, delayMs: number): unknown;
  clearTimeout(timer: unknown): void;
};
