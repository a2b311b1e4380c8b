// The two clocks of a Console under test: the wall clock can be moved or held at one instant, the monotonic clock can only
// be pushed on. Timers stay the process's own.
import { processTime } from '../../gateway/process/time.ts';
import type { Time } from '../../storage/ports/plumbing/clock.ts';

export type TestTime = Time & {
  /** Moves the wall clock. */
  travel(byMs: number): void;
  /** Holds the wall clock at one instant, so that an edge can be met to the millisecond; null lets it go on. */
  hold(atMs: number | null): void;
  /** Pushes the monotonic clock on. */
  age(byMs: number): void;
};

/** Makes clocks that agree with the process until they are moved. */
export function createTestTime(): TestTime {
  let movedMs = 0;
  let agedMs = 0;
  let heldAtMs: number | null = null;
  return {
    ...processTime,
    now: () => heldAtMs ?? Date.now() + movedMs,
    monotonicNow: () => performance.now() + agedMs,
    travel(byMs) {
      movedMs += byMs;
      if (heldAtMs !== null) heldAtMs += byMs;
    },
    hold(atMs) {
      heldAtMs = atMs;
    },
    age(byMs) {
      agedMs += byMs;
    },
  };
}
