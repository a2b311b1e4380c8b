// An idle Sensor has nothing to tell its stream machine twice a second. Timers of one delay ask first whether there is
// anything to do, and sleep once more when there is not; the machine hears only of ticks that can change something.
import type { WheelClock } from '../../actors/runtime/wheel-clock.ts';

/** The clock again; its timers of `delayMs` are put off by as much as long as `isQuiet` says so. */
export function createQuietClock(
  clock: WheelClock,
  { delayMs, isQuiet }: { readonly delayMs: number; readonly isQuiet: () => boolean },
): WheelClock {
  // Own numbers fall, the wheel's rise, so that they never meet.
  const timers = new Map<number, number>();
  let lastId = 0;

  function arm(id: number, run: () => void): void {
    const timer = clock.setTimeout(() => {
      if (isQuiet()) return arm(id, run);
      timers.delete(id);
      run();
    }, delayMs);
    timers.set(id, timer);
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
    },
  };
}
