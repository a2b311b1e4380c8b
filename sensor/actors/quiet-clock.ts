// An idle Sensor has nothing to tell its stream machine twice a second. Timers of one delay ask first whether there is
// anything to do, and sleep once more when there is not; the machine hears only of ticks that can change something. One
// that slept over its time is woken as soon as there is something: what is collected does not wait twice.
import type { WheelClock } from '../../actors/runtime/wheel-clock.ts';

export type QuietClock = WheelClock & {
  /** There may be something to do: what was put off runs now, unless it is still quiet. */
  wake(): void;
};

/** The clock again; its timers of `delayMs` are put off by as much as long as `isQuiet` says so. */
export function createQuietClock(
  clock: WheelClock,
  { delayMs, isQuiet }: { readonly delayMs: number; readonly isQuiet: () => boolean },
): QuietClock {
  // Own numbers fall, the wheel's rise, so that they never meet.
  const timers = new Map<number, number>();
  const overdue = new Map<number, () => void>();
  let lastId = 0;

  function arm(id: number, run: () => void): void {
    const timer = clock.setTimeout(() => {
      if (!isQuiet()) return take(id, run);
      overdue.set(id, run);
      arm(id, run);
    }, delayMs);
    timers.set(id, timer);
  }

  function take(id: number, run: () => void): void {
    timers.delete(id);
    overdue.delete(id);
    run();
  }

  return {
    ...clock,
    setTimeout(run, ms) {
      if (ms !== delayMs) return clock.setTimeout(run, ms);
      lastId -= 1;
      arm(lastId, run);
      return lastId;
    },
    clearTimeout(id) {
      clock.clearTimeout(timers.get(id) ?? id);
      timers.delete(id);
      overdue.delete(id);
    },
    wake() {
      for (const [id, run] of overdue) {
        if (isQuiet()) return;
        clock.clearTimeout(timers.get(id) ?? id);
        take(id, run);
      }
    },
  };
}
