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

/** A timer of the delay that is put off while it is quiet, which it is at first. */
function makeSleeper() {
  const { clock, advance } = makeClock();
  const at = { isQuiet: true, runs: 0 };
  const quiet = createQuietClock(clock, { delayMs: 500, isQuiet: () => at.isQuiet });
  quiet.setTimeout(() => {
    at.runs += 1;
  }, 500);
  return Object.assign(at, { clock, advance, quiet });
}

describe('quiet clock', () => {
  it('should put a timer of its delay off until there is something to do', () => {
    const at = makeSleeper();
    at.advance(1_700);
    expect(at.runs).toBe(0);
    at.isQuiet = false;
    at.advance(1_990);
    expect(at.runs).toBe(0);
    at.advance(2_600);
    expect(at.runs).toBe(1);
    expect(at.clock.size()).toBe(0);
  });

  it('should run what slept over its time as soon as it is woken and there is something, and once', () => {
    const at = makeSleeper();
    at.isQuiet = false;
    at.quiet.wake();
    expect(at.runs).toBe(0);
    at.isQuiet = true;
    at.advance(700);
    at.quiet.wake();
    expect(at.runs).toBe(0);
    at.isQuiet = false;
    at.quiet.wake();
    at.quiet.wake();
    expect(at.runs).toBe(1);
    at.advance(2_000);
    expect(at.runs).toBe(1);
    expect(at.clock.size()).toBe(0);
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
