// An embedded database under the Console's care, and the Console's start, transition by transition. decision: D7
import { describe, expect, it } from 'vitest';
import { startupMachine } from '../../machines/console/runtime/startup.machine.ts';
import { STARTUP_STEPS } from '../../machines/console/runtime/startup.rules.ts';
import { storeProcessMachine } from '../../machines/console/runtime/store-process.machine.ts';
import {
  STARTUP_STEP_TIMEOUT_MS,
  STORE_BACKOFF_MIN_MS,
  STORE_PROBE_FAILURES_MAX,
  STORE_PROBE_INTERVAL_MS,
  STORE_PROBE_TIMEOUT_MS,
  STORE_RESTART_WINDOW_MS,
  STORE_RESTARTS_MAX,
  STORE_START_TIMEOUT_MS,
  STORE_STOP_TIMEOUT_MS,
} from '../../machines/limits.ts';
import { type Driven, drive } from '../models/driver.ts';

const START_MS = 1_000_000;
type Store = Driven<typeof storeProcessMachine>;

const begin = (): Store => drive(storeProcessMachine, { atMs: START_MS }, START_MS);
function ready(): Store {
  const store = begin();
  store.done('startStore', { isStarted: true, atMs: START_MS + 5 });
  return store;
}
function probing(misses = 0): Store {
  const store = ready();
  for (let miss = 0; miss <= misses; miss += 1) {
    store.advance(STORE_PROBE_INTERVAL_MS);
    if (miss < misses) store.done('probeStore', { isAnswering: false, atMs: START_MS + 6 });
  }
  return store;
}
function clearing(): Store {
  const store = probing(STORE_PROBE_FAILURES_MAX - 1);
  store.fail('probeStore');
  return store;
}
const value = (store: Store) => store.snapshot().value;
const context = (store: Store) => store.snapshot().context;
const tags = (store: Store) =>
  (['usable', 'given-up'] as const).filter((tag) => store.snapshot().hasTag(tag));
const exited = (atMs: number) => ({ type: 'store.exited', atMs, reason: 'gone' });

describe('store process: starting', () => {
  it('should begin with a start and nothing behind it', () => {
    const store = begin();
    expect([value(store), store.running(), tags(store)]).toEqual(['starting', ['startStore'], []]);
    expect(context(store)).toEqual({
      wasReady: false,
      restartsAtMs: [],
      lastAtMs: START_MS,
      probeFailures: 0,
      reason: null,
    });
  });

  it('should be usable once it is started', () => {
    const store = ready();
    expect([value(store), store.running(), tags(store)]).toEqual([
      { ready: 'watching' },
      ['watchStore'],
      ['usable'],
    ]);
    expect(context(store)).toMatchObject({ wasReady: true, lastAtMs: START_MS + 5, reason: null });
  });

  it.each<[string, (store: Store) => void, string, number]>([
    [
      'is refused',
      (one) => one.done('startStore', { isStarted: false, atMs: START_MS + 9, reason: 'no space' }),
      'no space',
      START_MS + 9,
    ],
    ['breaks', (one) => one.fail('startStore', new Error('ENOENT')), 'ENOENT', START_MS],
    [
      'takes too long',
      (one) => one.advance(STORE_START_TIMEOUT_MS),
      'the start took too long',
      START_MS + STORE_START_TIMEOUT_MS,
    ],
  ])('should wait and start again when the start %s', (_, end, reason, atMs) => {
    const store = begin();
    store.advance(0);
    end(store);
    expect([value(store), store.running(), tags(store)]).toEqual(['backing-off', [], []]);
    expect(context(store)).toMatchObject({ reason, lastAtMs: atMs, restartsAtMs: [atMs] });
    expect(store.nextTimerMs()).toBe(STORE_BACKOFF_MIN_MS);
    store.advance(STORE_BACKOFF_MIN_MS);
    expect([value(store), store.running()]).toEqual(['starting', ['startStore']]);
    expect(context(store).lastAtMs).toBe(atMs + STORE_BACKOFF_MIN_MS);
  });

  it('should wait twice as long before the second restart', () => {
    const store = begin();
    store.fail('startStore');
    store.advance(STORE_BACKOFF_MIN_MS);
    store.fail('startStore');
    expect(store.nextTimerMs()).toBe(2 * STORE_BACKOFF_MIN_MS);
    store.advance(2 * STORE_BACKOFF_MIN_MS);
    expect(context(store).lastAtMs).toBe(START_MS + 3 * STORE_BACKOFF_MIN_MS);
  });
});

describe('store process: ready', () => {
  it.each<[string, (store: Store) => void, string]>([
    ['its exit is told', (one) => one.send(exited(START_MS + 9)), 'gone'],
    [
      'its watch ends',
      (one) => one.done('watchStore', { atMs: START_MS + 9, reason: 'exit 1' }),
      'exit 1',
    ],
  ])('should be restarted when %s, all misses forgotten', (_, end, reason) => {
    const store = probing(1);
    expect(context(store).probeFailures).toBe(1);
    end(store);
    expect([value(store), store.running(), tags(store)]).toEqual(['backing-off', [], []]);
    expect(context(store)).toMatchObject({ reason, lastAtMs: START_MS + 9, probeFailures: 0 });
  });

  it('should be cleared away when nobody can watch it', () => {
    const store = ready();
    store.fail('watchStore', new Error('no such process'));
    expect([value(store), context(store).reason]).toEqual(['clearing', 'no such process']);
  });

  it('should never move its time back', () => {
    const store = ready();
    store.send(exited(START_MS - 100));
    expect(context(store).lastAtMs).toBe(START_MS + 5);
  });

  it('should be given up after the restarts of a window, and not when they are old', () => {
    const store = ready();
    let atMs = START_MS + 10;
    for (let restart = 0; restart < STORE_RESTARTS_MAX; restart += 1) {
      store.send(exited(atMs));
      expect(value(store)).toBe('backing-off');
      store.advance(store.nextTimerMs() ?? 0);
      atMs = context(store).lastAtMs;
      store.done('startStore', { isStarted: true, atMs });
      expect([context(store).wasReady, context(store).reason]).toEqual([true, null]);
    }
    store.send(exited(atMs));
    expect([value(store), tags(store), context(store).reason]).toEqual([
      'failed',
      ['given-up'],
      'gone',
    ]);
    const patient = ready();
    for (let restart = 0; restart < 2 * STORE_RESTARTS_MAX; restart += 1) {
      patient.send(exited(START_MS + (restart + 1) * STORE_RESTART_WINDOW_MS));
      expect([value(patient), context(patient).restartsAtMs.length]).toEqual(['backing-off', 1]);
      patient.advance(patient.nextTimerMs() ?? 0);
      patient.done('startStore', { isStarted: true, atMs: START_MS });
    }
  });
});

describe('store process: probing', () => {
  it('should watch again after an answer, all misses forgotten', () => {
    const store = probing(1);
    expect([value(store), store.running()]).toEqual([
      { ready: 'probing' },
      ['probeStore', 'watchStore'],
    ]);
    store.done('probeStore', { isAnswering: true, atMs: START_MS + 700 });
    expect(value(store)).toEqual({ ready: 'watching' });
    expect(context(store)).toMatchObject({ probeFailures: 0, lastAtMs: START_MS + 700 });
    store.advance(STORE_PROBE_INTERVAL_MS - 1);
    expect(value(store)).toEqual({ ready: 'watching' });
    store.advance(1);
    expect(value(store)).toEqual({ ready: 'probing' });
  });

  it.each<[string, (store: Store) => void, number]>([
    [
      'is unanswered',
      (one) => one.done('probeStore', { isAnswering: false, atMs: START_MS + 800 }),
      START_MS + 800,
    ],
    ['breaks', (one) => one.fail('probeStore'), START_MS + 5],
    ['takes too long', (one) => one.advance(STORE_PROBE_TIMEOUT_MS), START_MS + 5],
  ])('should count one that %s, and clear the store away after the last', (_, miss, atMs) => {
    const store = probing();
    miss(store);
    expect([value(store), context(store).probeFailures]).toEqual([{ ready: 'watching' }, 1]);
    expect([context(store).lastAtMs, tags(store)]).toEqual([atMs, ['usable']]);
    for (let misses = 1; misses < STORE_PROBE_FAILURES_MAX; misses += 1) {
      expect(value(store)).toEqual({ ready: 'watching' });
      store.advance(STORE_PROBE_INTERVAL_MS);
      miss(store);
    }
    expect([value(store), store.running(), tags(store)]).toEqual(['clearing', ['stopStore'], []]);
    expect(context(store)).toMatchObject({
      reason: 'it stopped answering',
      probeFailures: 0,
      lastAtMs: atMs,
    });
  });
});

describe('store process: hung', () => {
  it('should note when the last probe was unanswered', () => {
    const store = probing(STORE_PROBE_FAILURES_MAX - 1);
    store.done('probeStore', { isAnswering: false, atMs: START_MS + 900 });
    expect([value(store), context(store).lastAtMs]).toEqual(['clearing', START_MS + 900]);
  });
});

describe('store process: clearing and stopping', () => {
  const ends: readonly ((store: Store) => void)[] = [
    (store) => store.done('stopStore'),
    (store) => store.fail('stopStore'),
    (store) => store.advance(1),
  ];

  it('should start again once it is cleared away, however that goes', () => {
    for (const end of ends) {
      const store = clearing();
      store.advance(2 * STORE_STOP_TIMEOUT_MS - 1);
      expect(value(store)).toBe('clearing');
      end(store);
      expect(value(store)).toBe('backing-off');
    }
  });

  it('should stop from every state, however the stop goes', () => {
    const backingOff = begin();
    backingOff.fail('startStore');
    const failed = begin();
    for (let times = 0; value(failed) !== 'failed' && times < 100; times += 1) {
      failed.fail('startStore');
      if (value(failed) === 'backing-off') failed.advance(failed.nextTimerMs() ?? 0);
    }
    const all = [begin(), ready(), probing(), clearing(), backingOff, failed];
    all.forEach((store, index) => {
      store.send({ type: 'store.stop' });
      expect([value(store), store.running(), tags(store)]).toEqual(['stopping', ['stopStore'], []]);
      store.advance(2 * STORE_STOP_TIMEOUT_MS - 1);
      expect(value(store)).toBe('stopping');
      ends[index % ends.length]?.(store);
      expect([value(store), tags(store), store.snapshot().status]).toEqual([
        'stopped',
        ['given-up'],
        'done',
      ]);
    });
  });
});

describe('startup', () => {
  type Startup = Driven<typeof startupMachine>;
  const upTo = (count: number): Startup => {
    const startup = drive(startupMachine);
    for (let step = 0; step < count; step += 1) startup.done('runStep', 'done');
    return startup;
  };

  it('should run each step with its own name and note how it ended', () => {
    const startup = drive(startupMachine);
    expect(startup.snapshot().context).toEqual({ steps: [], failedStep: null, reason: null });
    STARTUP_STEPS.forEach((step, index) => {
      expect([startup.snapshot().value, startup.running()]).toEqual([step, ['runStep']]);
      expect(startup.inputOf('runStep')).toEqual({ step });
      startup.done('runStep', index % 2 === 0 ? 'done' : 'not_configured');
    });
    expect(startup.snapshot().context.steps).toEqual(
      STARTUP_STEPS.map((step, index) => ({
        step,
        outcome: index % 2 === 0 ? 'done' : 'not_configured',
      })),
    );
    expect([startup.snapshot().value, startup.snapshot().status]).toEqual(['serving', 'done']);
  });

  it('should fail in the step that breaks or takes too long', () => {
    STARTUP_STEPS.forEach((failedStep, index) => {
      const broken = upTo(index);
      broken.fail('runStep', new Error('no such file'));
      expect([broken.snapshot().value, broken.snapshot().status]).toEqual(['failed', 'done']);
      expect(broken.snapshot().context).toMatchObject({ failedStep, reason: 'no such file' });
      const slow = upTo(index);
      slow.advance(STARTUP_STEP_TIMEOUT_MS - 1);
      expect(slow.snapshot().value).toBe(failedStep);
      slow.advance(1);
      expect(slow.snapshot().value).toBe('failed');
      const reason = 'the step took too long';
      expect(slow.snapshot().context).toMatchObject({ failedStep, reason });
    });
  });
});
