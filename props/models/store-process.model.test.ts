// The process of an embedded database beside a list of restarts: it is usable only while it answers, restarted while the
// window has room, and stopped from every state. decision: D7
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { storeProcessMachine } from '../../machines/console/runtime/store-process.machine.ts';
import {
  STORE_BACKOFF_MAX_MS,
  STORE_BACKOFF_MIN_MS,
  STORE_FIRST_STARTS_MAX,
  STORE_PROBE_FAILURES_MAX,
  STORE_PROBE_INTERVAL_MS,
  STORE_PROBE_TIMEOUT_MS,
  STORE_RESTART_WINDOW_MS,
  STORE_RESTARTS_MAX,
  STORE_START_TIMEOUT_MS,
  STORE_STOP_TIMEOUT_MS,
} from '../../machines/limits.ts';
import { type Driven, drive, itsMachineAgrees, type Move, move, timeMoves } from './driver.ts';

const START_MS = 1_000_000_000;
type At =
  | 'starting'
  | 'watching'
  | 'probing'
  | 'clearing'
  | 'backing-off'
  | 'failed'
  | 'stopping'
  | 'stopped';
type Model = {
  at: At;
  wasReady: boolean;
  /** The latest time that anybody told; deadlines add what they last. */
  knownMs: number;
  restartsAtMs: number[];
  unanswered: number;
  elapsedMs: number;
};
type Real = Driven<typeof storeProcessMachine>;

const RUNS: Readonly<Record<At, readonly string[]>> = {
  starting: ['startStore'],
  watching: ['watchStore'],
  probing: ['probeStore', 'watchStore'],
  clearing: ['stopStore'],
  'backing-off': [],
  failed: [],
  stopping: ['stopStore'],
  stopped: [],
};
const isReady = (model: Model) => model.at === 'watching' || model.at === 'probing';
function go(model: Model, at: At): void {
  model.at = at;
  model.elapsedMs = 0;
}
function know(model: Model, atMs: number): void {
  model.knownMs = Math.max(model.knownMs, atMs);
}
function backoffMs(model: Model): number {
  return Math.min(
    STORE_BACKOFF_MAX_MS,
    STORE_BACKOFF_MIN_MS * 2 ** (model.restartsAtMs.length - 1),
  );
}
function fallDown(model: Model): void {
  const recent = model.restartsAtMs.filter((at) => model.knownMs - at < STORE_RESTART_WINDOW_MS);
  const max = model.wasReady ? STORE_RESTARTS_MAX : STORE_FIRST_STARTS_MAX - 1;
  model.unanswered = 0;
  const mayRestart = recent.length < max;
  if (mayRestart) model.restartsAtMs = [...recent, model.knownMs];
  go(model, mayRestart ? 'backing-off' : 'failed');
}
function start(model: Model, real: Real, isStarted: boolean): void {
  const outcome = { isStarted, atMs: real.nowMs(), reason: 'no' };
  real.done('startStore', outcome);
  if (model.at !== 'starting') return;
  know(model, outcome.atMs);
  if (isStarted) {
    model.wasReady = true;
    model.unanswered = 0;
    go(model, 'watching');
  } else fallDown(model);
}
function exit(model: Model, real: Real): void {
  const ended = { atMs: real.nowMs(), reason: 'gone' };
  real.done('watchStore', ended);
  if (!isReady(model)) return;
  know(model, ended.atMs);
  fallDown(model);
}
function unanswered(model: Model, atMs: number | null): void {
  if (atMs !== null) know(model, atMs);
  model.unanswered += 1;
  const isHung = model.unanswered >= STORE_PROBE_FAILURES_MAX;
  if (isHung) model.unanswered = 0;
  go(model, isHung ? 'clearing' : 'watching');
}
function pass(model: Model, ms: number, isDue: boolean): void {
  model.elapsedMs += ms;
  if (!isDue) return;
  if (model.at === 'starting') {
    know(model, model.knownMs + STORE_START_TIMEOUT_MS);
    fallDown(model);
  } else if (model.at === 'watching') go(model, 'probing');
  else if (model.at === 'probing') unanswered(model, null);
  else if (model.at === 'clearing') fallDown(model);
  else if (model.at === 'stopping') go(model, 'stopped');
  else if (model.at === 'backing-off') {
    know(model, model.knownMs + backoffMs(model));
    go(model, 'starting');
  }
}
const starts = fc.constantFrom(true, true, false).map(
  (isStarted): Move<Model, Real> => ({
    name: `start(${isStarted})`,
    run: (model, real) => start(model, real, isStarted),
  }),
);
const probe = fc.boolean().map(
  (isAnswering): Move<Model, Real> => ({
    name: `probe(${isAnswering})`,
    run(model, real) {
      const outcome = { isAnswering, atMs: real.nowMs() };
      real.done('probeStore', outcome);
      if (model.at !== 'probing') return;
      if (!isAnswering) return unanswered(model, outcome.atMs);
      know(model, outcome.atMs);
      model.unanswered = 0;
      go(model, 'watching');
    },
  }),
);
const crashLoop = fc.integer({ min: 1, max: STORE_RESTARTS_MAX + 1 }).map(
  (times): Move<Model, Real> => ({
    name: `crash(${times} times)`,
    run(model, real) {
      for (let at = 0; at < times; at += 1) {
        start(model, real, true);
        exit(model, real);
        if (model.at !== 'backing-off') return;
        const ms = real.nextTimerMs() ?? 0;
        real.advance(ms);
        pass(model, ms, true);
      }
    },
  }),
);
const hang = fc.integer({ min: 1, max: STORE_PROBE_FAILURES_MAX }).map(
  (times): Move<Model, Real> => ({
    name: `hang(${times} probes)`,
    may: isReady,
    run(model, real) {
      for (let at = 0; at < 2 * times && isReady(model); at += 1) {
        const ms = real.nextTimerMs() ?? 0;
        real.advance(ms);
        pass(model, ms, true);
      }
    },
  }),
);
const breaks = fc.constantFrom('startStore', 'probeStore', 'watchStore', 'stopStore').map(
  (src): Move<Model, Real> => ({
    name: `break(${src})`,
    run(model, real) {
      real.fail(src);
      if (!RUNS[model.at].includes(src)) return;
      if (src === 'probeStore') unanswered(model, null);
      else if (src === 'watchStore') {
        model.unanswered = 0;
        go(model, 'clearing');
      } else if (model.at === 'stopping') go(model, 'stopped');
      else fallDown(model);
    },
  }),
);
const exited = move<Model, Real>('store.exited', (model, real) => {
  real.send({ type: 'store.exited', atMs: real.nowMs(), reason: 'gone' } as never);
  if (!isReady(model)) return;
  know(model, real.nowMs());
  fallDown(model);
});
const stop = move<Model, Real>('store.stop', (model, real) => {
  real.send({ type: 'store.stop' });
  if (model.at !== 'stopping' && model.at !== 'stopped') go(model, 'stopping');
});
const stopEnds = move<Model, Real>('ended', (model, real) => {
  real.done('stopStore');
  if (model.at === 'stopping') go(model, 'stopped');
  else if (model.at === 'clearing') fallDown(model);
});
const time = timeMoves<Model, typeof storeProcessMachine>((model, { ms, isDue }) =>
  pass(model, ms, isDue),
);

describe('store process', () => {
  itsMachineAgrees(storeProcessMachine, {
    input: fc.constant({ atMs: START_MS }),
    begin: (input) => ({
      model: {
        at: 'starting',
        wasReady: false,
        knownMs: START_MS,
        restartsAtMs: [],
        unanswered: 0,
        elapsedMs: 0,
      } as Model,
      real: drive(storeProcessMachine, input, START_MS),
    }),
    moves: [
      starts,
      starts,
      move('exit', exit),
      probe,
      crashLoop,
      hang,
      breaks,
      exited,
      fc.oneof({ weight: 1, arbitrary: stop }, { weight: 6, arbitrary: probe }),
      stopEnds,
      time,
      time,
    ],
    agree(model, real) {
      const snapshot = real.snapshot();
      expect(snapshot.value).toEqual(isReady(model) ? { ready: model.at } : model.at);
      expect(snapshot.hasTag('usable')).toBe(isReady(model));
      expect(snapshot.hasTag('given-up')).toBe(model.at === 'failed' || model.at === 'stopped');
      expect(snapshot.context.restartsAtMs).toEqual(model.restartsAtMs);
      expect(snapshot.context.probeFailures).toBe(model.unanswered);
      expect(snapshot.context.lastAtMs).toBeLessThanOrEqual(real.nowMs());
      expect(real.running()).toEqual(RUNS[model.at]);
      const leftMs = {
        starting: STORE_START_TIMEOUT_MS,
        watching: STORE_PROBE_INTERVAL_MS,
        probing: STORE_PROBE_TIMEOUT_MS,
        clearing: 2 * STORE_STOP_TIMEOUT_MS,
        stopping: 2 * STORE_STOP_TIMEOUT_MS,
        'backing-off': backoffMs(model),
        failed: null,
        stopped: null,
      }[model.at];
      expect(real.nextTimerMs()).toBe(leftMs === null ? null : leftMs - model.elapsedMs);
    },
  });
});
