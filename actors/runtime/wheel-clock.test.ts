import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createWheelClock, type WheelTime } from './wheel-clock.ts';

// Time that moves only when told, with one native timer as the wheel needs it.
function manualTime(): WheelTime & { advance(ms: number): void; nowMs: number } {
  let pending: { id: number; run: () => void; atMs: number } | null = null;
  let nextId = 1;
  const time = {
    nowMs: 0,
    monotonicNow: () => time.nowMs,
    setTimeout(run: () => void, delayMs: number) {
      pending = { id: nextId++, run, atMs: time.nowMs + delayMs };
      return pending.id;
    },
    clearTimeout(id: unknown) {
      if (pending?.id === id) pending = null;
    },
    advance(ms: number) {
      const endMs = time.nowMs + ms;
      while (pending !== null && pending.atMs <= endMs) {
        const { run, atMs } = pending;
        time.nowMs = Math.max(time.nowMs, atMs);
        pending = null;
        run();
      }
      time.nowMs = endMs;
    },
  };
  return time;
}

describe('wheel clock', () => {
  it('should not add up the lateness of a timer that arms itself again', () => {
    const time = manualTime();
    const clock = createWheelClock({ time, tickMs: 50 });
    const firedAtMs: number[] = [];
    const again = (): void => {
      firedAtMs.push(time.nowMs);
      clock.setTimeout(again, 130);
    };
    clock.setTimeout(again, 130);
    time.advance(130 * 100 + 50);
    expect(firedAtMs).toHaveLength(100);
    clock.stop();
  });

  it('should fire every timer once, never early, at most one tick late, in due order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 1_000_000 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 400_000 }),
        (delays, stepMs) => {
          const time = manualTime();
          const clock = createWheelClock({ time, tickMs: 50 });
          const fired: { delay: number; atMs: number }[] = [];
          for (const delay of delays)
            clock.setTimeout(() => fired.push({ delay, atMs: time.nowMs }), delay);
          while (time.nowMs <= 1_000_100) time.advance(stepMs);
          expect(fired.length).toBe(delays.length);
          for (const { delay, atMs } of fired) {
            expect(atMs).toBeGreaterThanOrEqual(delay);
            expect(atMs).toBeLessThanOrEqual(delay + 101);
          }
          expect(clock.size()).toBe(0);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('should hold delays beyond 2^31 ms', () => {
    const time = manualTime();
    const clock = createWheelClock({ time, tickMs: 50 });
    let firedAtMs = 0;
    clock.setTimeout(() => {
      firedAtMs = time.nowMs;
    }, 2_332_800_000);
    time.advance(2_332_799_000);
    expect(firedAtMs).toBe(0);
    time.advance(2_000);
    expect(firedAtMs).toBeGreaterThanOrEqual(2_332_800_000);
  });

  it('should not fire a cleared timer, also when an earlier one of the same tick clears it', () => {
    const time = manualTime();
    const clock = createWheelClock({ time, tickMs: 50 });
    const fired: string[] = [];
    let second = 0;
    clock.setTimeout(() => {
      fired.push('first');
      clock.clearTimeout(second);
    }, 10);
    second = clock.setTimeout(() => fired.push('second'), 20);
    time.advance(1_000);
    expect(fired).toEqual(['first']);
  });

  it('should go on when a callback throws, and report it', () => {
    const time = manualTime();
    const errors: unknown[] = [];
    const clock = createWheelClock({ time, tickMs: 50, onError: (error) => errors.push(error) });
    let ran = false;
    clock.setTimeout(() => {
      throw new Error('broken callback');
    }, 10);
    clock.setTimeout(() => {
      ran = true;
    }, 20);
    time.advance(200);
    expect(ran).toBe(true);
    expect(errors).toHaveLength(1);
  });

  it('should arm a timer from inside a callback', () => {
    const time = manualTime();
    const clock = createWheelClock({ time, tickMs: 50 });
    const atMs: number[] = [];
    const again = () => {
      atMs.push(time.nowMs);
      if (atMs.length < 5) clock.setTimeout(again, 500);
    };
    clock.setTimeout(again, 500);
    time.advance(10_000);
    expect(atMs.length).toBe(5);
    expect(atMs[4]).toBeLessThan(3_100);
  });

  it('should fire nothing after stop', () => {
    const time = manualTime();
    const clock = createWheelClock({ time, tickMs: 50 });
    let fired = false;
    clock.setTimeout(() => {
      fired = true;
    }, 10);
    clock.stop();
    time.advance(1_000);
    expect(fired).toBe(false);
  });
});
