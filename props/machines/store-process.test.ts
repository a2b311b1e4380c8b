// The supervisor of an embedded database never restarts without bound and always comes to rest. decision: D7
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type StoreProcessSnapshot,
  storeProcessMachine,
} from '../../machines/console/runtime/store-process.machine.ts';
import { restartDelayMs } from '../../machines/console/runtime/store-process.rules.ts';
import {
  STORE_BACKOFF_MAX_MS,
  STORE_BACKOFF_MIN_MS,
  STORE_FIRST_STARTS_MAX,
  STORE_PROBE_FAILURES_MAX,
  STORE_RESTART_WINDOW_MS,
  STORE_RESTARTS_MAX,
} from '../../machines/limits.ts';
import { describeMachineLaws } from './laws.ts';
import { initialTransition, transition } from './moves.ts';

const START_MS = 1_700_000_000_000;
const times = fc.integer({ min: START_MS, max: START_MS + 3_600_000 });

describeMachineLaws({
  name: 'store-process',
  machine: storeProcessMachine,
  input: fc.record({ atMs: times }),
  events: fc.oneof(
    { weight: 9, arbitrary: times.map((atMs) => ({ type: 'store.exited', atMs, reason: 'gone' })) },
    { weight: 1, arbitrary: fc.constant({ type: 'store.stop' }) },
  ),
  outputs: {
    startStore: fc.oneof(
      times.map((atMs) => ({ isStarted: true, atMs })),
      times.map((atMs) => ({ isStarted: false, atMs, reason: 'no space' })),
    ),
    probeStore: fc.record({ isAnswering: fc.boolean(), atMs: times }),
    watchStore: fc.record({ atMs: times, reason: fc.constant('it ended') }),
    stopStore: fc.constant(undefined),
  },
});

const begin = (): StoreProcessSnapshot =>
  initialTransition(storeProcessMachine, { atMs: START_MS })[0];
const step = (snapshot: StoreProcessSnapshot, event: object): StoreProcessSnapshot =>
  transition(storeProcessMachine, snapshot, event as never)[0];
const started = (atMs: number) => ({
  type: 'xstate.done.actor.start',
  output: { isStarted: true, atMs },
});
const refused = (atMs: number) => ({
  type: 'xstate.done.actor.start',
  output: { isStarted: false, atMs, reason: 'no space' },
});
const backoffOver = { type: 'xstate.after.backoffMs.store-process.backing-off' };
const probeDue = { type: 'xstate.after.probeIntervalMs.store-process.ready.watching' };
const exited = (atMs: number) => ({ type: 'store.exited', atMs, reason: 'gone' });

describe('store-process: rules', () => {
  it('always doubles the delay between its bounds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), (restarts) => {
        const [delay, next] = [restartDelayMs(restarts), restartDelayMs(restarts + 1)];
        expect(delay).toBeGreaterThanOrEqual(STORE_BACKOFF_MIN_MS);
        expect(next).toBe(Math.min(STORE_BACKOFF_MAX_MS, 2 * delay));
      }),
    );
  });

  it('never restarts more often than the cap in any window', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 120_000 }), { minLength: 20, maxLength: 60 });
    fc.assert(
      fc.property(gaps, fc.array(fc.boolean(), { maxLength: 60 }), (waits, choices) => {
        const restarts: number[] = [];
        let [snapshot, atMs] = [step(begin(), started(START_MS)), START_MS];
        waits.forEach((waitMs, index) => {
          atMs += waitMs;
          snapshot = step(snapshot, snapshot.matches('ready') ? exited(atMs) : refused(atMs));
          if (!snapshot.matches('backing-off')) return;
          restarts.push(atMs);
          atMs += restartDelayMs(snapshot.context.restartsAtMs.length);
          snapshot = step(snapshot, backoffOver);
          if (choices[index] === true) snapshot = step(snapshot, started(atMs));
        });
        for (const from of restarts) {
          const inWindow = restarts.filter(
            (one) => one >= from && one < from + STORE_RESTART_WINDOW_MS,
          );
          expect(inWindow.length).toBeLessThanOrEqual(STORE_RESTARTS_MAX);
        }
      }),
    );
  });

  it('gives up early, with the reason, when it never answered', () => {
    let [snapshot, starts] = [begin(), 0];
    while (snapshot.matches('starting') && starts < 100) {
      starts += 1;
      snapshot = step(step(snapshot, refused(START_MS + starts)), backoffOver);
    }
    expect([snapshot.value, starts]).toEqual(['failed', STORE_FIRST_STARTS_MAX]);
    expect(snapshot.context.reason).toBe('no space');
    expect(snapshot.hasTag('given-up')).toBe(true);
  });

  it('never is usable unless a start succeeded', () => {
    const others = fc.constantFrom<object>(backoffOver, probeDue, exited(START_MS), refused(1), {
      type: 'xstate.error.actor.start',
      error: new Error('refused'),
    });
    fc.assert(
      fc.property(fc.array(others, { maxLength: 30 }), (events) => {
        let snapshot = begin();
        for (const event of events) {
          snapshot = step(snapshot, event);
          expect(snapshot.hasTag('usable')).toBe(false);
        }
      }),
    );
    expect(step(begin(), started(START_MS)).hasTag('usable')).toBe(true);
  });

  it('ends a store that leaves several probes unanswered before it starts it again', () => {
    let snapshot = step(begin(), started(START_MS));
    for (let miss = 1; miss <= STORE_PROBE_FAILURES_MAX; miss += 1) {
      expect(snapshot.hasTag('usable')).toBe(true);
      snapshot = step(step(snapshot, probeDue), {
        type: 'xstate.done.actor.probe',
        output: { isAnswering: false, atMs: START_MS },
      });
    }
    expect(snapshot.value).toBe('clearing');
    snapshot = step(snapshot, { type: 'xstate.done.actor.clear', output: undefined });
    expect(snapshot.value).toBe('backing-off');
  });

  it('always ends in stopped after a stop, however the stop goes', () => {
    const walks = fc.array(
      fc.constantFrom<object>(started(START_MS), refused(START_MS), exited(START_MS), backoffOver),
      { maxLength: 30 },
    );
    const ends = fc.constantFrom<object>(
      { type: 'xstate.done.actor.stop', output: undefined },
      { type: 'xstate.error.actor.stop', error: new Error('no') },
      { type: 'xstate.after.stopTimeoutMs.store-process.stopping' },
    );
    fc.assert(
      fc.property(walks, walks, ends, (before, between, end) => {
        let snapshot = before.reduce<StoreProcessSnapshot>(step, begin());
        snapshot = step(snapshot, { type: 'store.stop' });
        snapshot = between.reduce<StoreProcessSnapshot>(step, snapshot);
        expect(snapshot.value).toBe('stopping');
        expect(step(snapshot, end).status).toBe('done');
      }),
    );
  });
});
