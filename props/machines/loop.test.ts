// A loop never runs twice at one time, always waits for what it told to end, and always runs again while it is on duty.
// decision: D60
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loopMachine } from '../../machines/console/runtime/loop.machine.ts';
import {
  LOOP_PLACES,
  type LoopOutcome,
  loopDelayMs,
} from '../../machines/console/runtime/loop.rules.ts';
import {
  LOOP_RETRY_MAX_MS,
  LOOP_RETRY_MIN_MS,
} from '../../machines/console/runtime/loop-limits.ts';
import { drive } from '../models/driver.ts';
import { describeMachineLaws } from './laws.ts';

const AT_MS = 1_700_000_000_000;
const EVERY_MS = 60_000;
const TIMEOUT_MS = 30_000;
const INPUT = {
  ...{ name: 'sweep', runsOn: 'designated', everyMs: EVERY_MS, timeoutMs: TIMEOUT_MS },
} as const;
const outcomes: fc.Arbitrary<LoopOutcome> = fc.record({
  startedAtMs: fc.constant(AT_MS),
  endedAtMs: fc.integer({ min: AT_MS - 1_000, max: AT_MS + 60_000 }),
  durationMs: fc.integer({ min: 0, max: 60_000 }),
  failure: fc.option(fc.constantFrom('refused', 'away')),
  hasMore: fc.boolean(),
});
const outcome = (more: Partial<LoopOutcome> = {}): LoopOutcome => ({
  ...{ startedAtMs: AT_MS, endedAtMs: AT_MS + 5, durationMs: 5, failure: null, hasMore: false },
  ...more,
});

describeMachineLaws({
  name: 'loop',
  machine: loopMachine,
  input: fc.record({
    name: fc.constant('sweep'),
    runsOn: fc.constantFrom(...LOOP_PLACES),
    everyMs: fc.integer({ min: 0, max: 86_400_000 }),
    timeoutMs: fc.integer({ min: 1, max: 86_400_000 }),
  }),
  events: fc.oneof(
    { weight: 6, arbitrary: fc.constant({ type: 'loop.on_duty' }) },
    { weight: 3, arbitrary: fc.constant({ type: 'loop.off_duty' }) },
    { weight: 3, arbitrary: fc.constant({ type: 'loop.run_now' }) },
    { weight: 1, arbitrary: fc.constant({ type: 'loop.stop' }) },
  ),
  outputs: { runOnce: outcomes },
});

const onDuty = () => {
  const loop = drive(loopMachine, INPUT);
  loop.send({ type: 'loop.on_duty' });
  loop.advance(0);
  return loop;
};
const told = (loop: ReturnType<typeof onDuty>) => loop.takeEffects().map(({ type }) => type);

describe('loop', () => {
  it('always runs at once when duty begins, then an interval after each end', () => {
    const loop = onDuty();
    expect(loop.running()).toEqual(['runOnce']);
    loop.done('runOnce', outcome());
    expect(loop.nextTimerMs()).toBe(EVERY_MS);
    expect(loop.snapshot().context).toMatchObject({
      ...{ runs: 1, failedRuns: 0, nextAtMs: AT_MS + 5 + EVERY_MS },
      lastRun: { startedAtMs: AT_MS, endedAtMs: AT_MS + 5, durationMs: 5, failure: null },
    });
    loop.advance(EVERY_MS);
    expect(loop.running()).toEqual(['runOnce']);
  });

  it('never begins a run off duty, whoever asks', () => {
    const loop = drive(loopMachine, INPUT);
    loop.send({ type: 'loop.run_now' });
    loop.advance(10 * EVERY_MS);
    expect(loop.running()).toEqual([]);
  });

  it('always tells a run to end with its duty, waits for it, and runs no other', () => {
    const loop = onDuty();
    loop.send({ type: 'loop.off_duty' });
    expect(told(loop)).toEqual(['abortRun']);
    expect(loop.snapshot().value).toEqual({ running: 'leaving' });
    loop.done('runOnce', outcome({ hasMore: true }));
    expect(loop.snapshot().value).toBe('off_duty');
    expect(loop.nextTimerMs()).toBe(null);
  });

  it('never begins the next run before the last one ended, also when duty comes back meanwhile', () => {
    const loop = onDuty();
    loop.send({ type: 'loop.off_duty' });
    loop.send({ type: 'loop.on_duty' });
    loop.send({ type: 'loop.run_now' });
    loop.advance(EVERY_MS);
    expect(loop.snapshot().value).toEqual({ running: 'overdue' });
    expect(loop.snapshot().context.runs).toBe(0);
    loop.done('runOnce', outcome());
    expect(loop.snapshot().value).toBe('waiting');
  });

  it('always runs once more, at once, when it was asked while a run was under way', () => {
    const loop = onDuty();
    loop.send({ type: 'loop.run_now' });
    loop.send({ type: 'loop.run_now' });
    loop.done('runOnce', outcome());
    expect(loop.nextTimerMs()).toBe(0);
    loop.advance(0);
    expect(loop.running()).toEqual(['runOnce']);
    loop.done('runOnce', outcome());
    expect(loop.nextTimerMs()).toBe(EVERY_MS);
  });

  it('never hurries after a failure, whoever asked meanwhile', () => {
    const loop = onDuty();
    loop.send({ type: 'loop.run_now' });
    loop.done('runOnce', outcome({ failure: 'away' }));
    expect(loop.nextTimerMs()).toBe(LOOP_RETRY_MIN_MS);
    loop.advance(LOOP_RETRY_MIN_MS);
    loop.done('runOnce', outcome());
    expect(loop.nextTimerMs()).toBe(EVERY_MS);
  });

  it('always tells a run that takes too long to end, once', () => {
    const loop = onDuty();
    loop.advance(TIMEOUT_MS - 1);
    expect(told(loop)).toEqual([]);
    loop.advance(1);
    expect(told(loop)).toEqual(['abortRun']);
    loop.send({ type: 'loop.off_duty' });
    expect(told(loop)).toEqual([]);
    expect(loop.running()).toEqual(['runOnce']);
  });

  it('always tries a runner that broke like a run that failed', () => {
    const loop = onDuty();
    loop.fail('runOnce');
    expect(told(loop)).toEqual(['tellBroken']);
    expect(loop.nextTimerMs()).toBe(LOOP_RETRY_MIN_MS);
    loop.advance(LOOP_RETRY_MIN_MS);
    loop.done('runOnce', outcome({ failure: 'away' }));
    expect(loop.nextTimerMs()).toBe(2 * LOOP_RETRY_MIN_MS);
    expect(loop.snapshot().context).toMatchObject({ runs: 2, failedRuns: 2, failures: 2 });
  });
});

describe('loop: rules', () => {
  it('always goes on at once while more waits, but never after a failure', () => {
    const of = { everyMs: EVERY_MS, failures: 0, hasMore: true };
    expect(loopDelayMs(of)).toBe(0);
    expect(loopDelayMs({ ...of, hasMore: false })).toBe(EVERY_MS);
    expect(loopDelayMs({ ...of, failures: 1 })).toBe(LOOP_RETRY_MIN_MS);
  });

  it('always doubles its wait between its bounds, whatever the interval', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.nat({ max: 86_400_000 }),
        (failures, everyMs) => {
          const at = (count: number) => loopDelayMs({ everyMs, failures: count, hasMore: false });
          expect(at(failures)).toBeGreaterThanOrEqual(LOOP_RETRY_MIN_MS);
          const ownMs = Math.max(LOOP_RETRY_MIN_MS, everyMs);
          expect(at(failures + 1)).toBe(Math.min(LOOP_RETRY_MAX_MS, ownMs, 2 * at(failures)));
        },
      ),
    );
  });
});
