import { describe, expect, it } from 'vitest';
import { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import { createQuietClock } from './quiet-clock.ts';

/** A wheel on a time that a test moves. */
function makeClock() {
  let nowMs = 0;
  let waiting: { readonly atMs: number; readonly run: () => void } | null = null;
  const clock = createWheelClock({
    time: {
      monotonicNow: () => nowMs,
      setTimeout: (run, delayMs) => {
        waiting = { atMs: nowMs + delayMs, run };
        return 0;
      },
      clearTimeout: () => {
        waiting = null;
      },
    },
  });
  const advance = (toMs: number): void => {
    while (waiting !== null && waiting.atMs <= toMs) {
      const { atMs, run } = waiting;
      waiting = null;
      nowMs = atMs;
      run();
    }
    nowMs = toMs;
  };
  return { clock, advance };
}

describe('quiet clock', () => {
  it('should put a timer of its delay off until there is something to do', () => {
    const { clock, advance } = makeClock();
    let isQuiet = true;
    let runs = 0;
    const quiet = createQuietClock(clock, { delayMs: 500, isQuiet: () => isQuiet });
    quiet.setTimeout(() => {
      runs += 1;
    }, 500);
    advance(1_700);
    expect(runs).toBe(0);
    isQuiet = false;
    advance(1_990);
    expect(runs).toBe(0);
    advance(2_600);
    expect(runs).toBe(1);
    expect(clock.size()).toBe(0);
  });

  it('should run what slept over its time as soon as it is woken and there is something, and once', () => {
    const { clock, advance } = makeClock();
    let isQuiet = true;
    let runs = 0;
    const quiet = createQuietClock(clock, { delayMs: 500, isQuiet: () => isQuiet });
    quiet.setTimeout(() => {
      runs += 1;
    }, 500);
    isQuiet = false;
    quiet.wake();
    expect(runs).toBe(0);
    isQuiet = true;
    advance(700);
    quiet.wake();
    expect(runs).toBe(0);
    isQuiet = false;
    quiet.wake();
    quiet.wake();
    expect(runs).toBe(1);
    advance(2_000);
    expect(runs).toBe(1);
    expect(clock.size()).toBe(0);
  });

  it('should run a timer of another delay in its time', () => {
    const { clock, advance } = makeClock();
    let runs = 0;
    const quiet = createQuietClock(clock, { delayMs: 500, isQuiet: () => true });
    quiet.setTimeout(() => {
      runs += 1;
    }, 600);
    advance(700);
    expect(runs).toBe(1);
  });

  it('should clear a timer that was put off, and one that was not', () => {
    const { clock, advance } = makeClock();
    const quiet = createQuietClock(clock, { delayMs: 500, isQuiet: () => true });
    const [put, other] = [quiet.setTimeout(() => undefined, 500), quiet.setTimeout(() => 0, 9_000)];
    advance(1_700);
    quiet.clearTimeout(put);
    quiet.clearTimeout(other);
    expect(clock.size()).toBe(0);
  });
});
