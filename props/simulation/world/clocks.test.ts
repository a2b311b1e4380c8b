// The world's wheel beside the one that runs in production: both pop the same timers at the same ticks, in one order.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createWheelClock, type WheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { createHostClock, wheelOf } from './clocks.ts';
import { beginLife } from './life.ts';
import { createScheduler } from './scheduler.ts';

type Move = { readonly delayMs: number; readonly again: number; readonly cancels: number | null };

const moves = fc.array(
  fc.record({
    delayMs: fc.integer({ min: 0, max: 400_000 }),
    again: fc.integer({ min: 0, max: 3 }),
    cancels: fc.option(fc.nat(20)),
  }),
  { minLength: 1, maxLength: 30 },
);

/** When the process is paused, for how long, and what it takes up first. */
const pauses = fc.array(
  fc.record({
    atMs: fc.integer({ min: 0, max: 400_000 }),
    ms: fc.integer({ min: 1, max: 100_000 }),
    first: fc.constantFrom('timers' as const, 'words' as const),
  }),
  { maxLength: 3 },
);

/** Arms what is wanted on a wheel; answers what fires when. */
function play(
  wheel: WheelClock,
  now: () => number,
  wanted: readonly Move[],
): readonly (readonly [number, number])[] {
  const fired: (readonly [number, number])[] = [];
  const ids: number[] = [];
  wanted.forEach(({ delayMs, again, cancels }, name) => {
    let left = again;
    const fire = (): void => {
      fired.push([name, now()]);
      if (left > 0) wheel.setTimeout(fire, delayMs);
      left -= 1;
    };
    ids.push(wheel.setTimeout(fire, delayMs));
    const victim = cancels === null ? undefined : ids[cancels];
    if (victim !== undefined) wheel.clearTimeout(victim);
  });
  return fired;
}

describe('the wheel of the world', () => {
  it('should always fire what the real wheel fires, at the same tick, also after pauses', async () => {
    await fc.assert(
      fc.asyncProperty(moves, pauses, async (wanted, planned) => {
        const fail = (error: unknown): never => {
          throw error;
        };
        const own = createScheduler({ onError: fail });
        const life = beginLife(own, { host: 'node-1', incarnation: 1 });
        const clock = createHostClock(own);
        const simulated = play(wheelOf(life, clock), clock.monotonicNow, wanted);

        const real = createScheduler({ onError: fail });
        const other = beginLife(real, { host: 'node-1', incarnation: 1 });
        for (const [of, scheduler] of [[life, own] as const, [other, real] as const]) {
          for (const { atMs, ms, first } of planned) {
            scheduler.after(atMs, () => {
              const goOn = of.pause(first);
              scheduler.after(ms, goOn);
            });
          }
        }
        const wheel = createWheelClock({
          time: {
            monotonicNow: real.now,
            setTimeout: (run, delayMs) => other.after(delayMs, run),
            clearTimeout: (timer) => real.cancel(timer as ReturnType<typeof real.after>),
          },
          onError: fail,
        });
        const expected = play(wheel, real.now, wanted);

        await own.runUntil(2_000_000);
        await real.runUntil(2_000_000);
        expect(simulated).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});
