// The engine's watch beside a list of failures: every loss is counted once, and the cap of a window is the cap.
// invariant: I10
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import {
  ENGINE_FALLBACK_FAILURES,
  ENGINE_MEMORY_MAX_BYTES,
  ENGINE_RESTART_WINDOW_MS,
  ENGINE_RESTARTS_MAX,
  ENGINE_STOP_TIMEOUT_MS,
} from '../../machines/limits.ts';
import { engineMachine } from '../../machines/sensor/engine.machine.ts';
import { type Driven, drive, itsMachineAgrees, type Move, move, timeMoves } from './driver.ts';

const START_MS = 10_000;
const HANG_MS = 30_000;
const MIN_MS = 1_000;
const MAX_MS = 60_000;
type At =
  | 'unpacking'
  | 'starting'
  | 'running'
  | 'attaching'
  | 'swapping'
  | 'lost'
  | 'backing_off'
  | 'failed'
  | 'stopping'
  | 'stopped';
type Model = {
  at: At;
  losses: number;
  fallbacks: number;
  failedAt: number[];
  elapsedMs: number;
  hasFallback: boolean;
  /** Since the upgrade began; no sign of life of the one before makes it younger. */
  upgradingMs: number;
  trying: string;
  refused: string | null;
  /** What the shell was told to do about builds, in order. */
  deeds: string[];
};
type Real = Driven<typeof engineMachine>;

const RUNS: Readonly<Record<At, readonly string[]>> = {
  unpacking: ['unpackEngine'],
  starting: ['runEngine'],
  running: ['runEngine'],
  attaching: ['runEngine', 'runNext'],
  swapping: ['runEngine', 'runNext'],
  lost: ['readClock'],
  backing_off: [],
  failed: [],
  stopping: ['stopEngine'],
  stopped: [],
};
const buildOf = (sum: string) => ({ kind: 'k', sum, name: sum });
function go(model: Model, at: At): void {
  model.at = at;
  model.elapsedMs = 0;
  if (at === 'lost') model.losses += 1;
}
const isUpgrading = (model: Model) => model.at === 'attaching' || model.at === 'swapping';
const isUp = (model: Model) =>
  model.at === 'starting' || model.at === 'running' || isUpgrading(model);
function refuse(model: Model): void {
  if (!isUpgrading(model)) return;
  model.refused = model.trying;
  model.deeds.push(`refuse ${model.trying}`);
  go(model, model.at === 'attaching' ? 'running' : 'lost');
}

function unpack(model: Model, real: Real, hasFallback = false): void {
  const refusals = model.refused === null ? [] : [{ build: buildOf(model.refused), reason: '' }];
  real.done('unpackEngine', { hasFallback, refusals });
  if (model.at !== 'unpacking') return;
  model.hasFallback = hasFallback;
  go(model, 'starting');
}
function rest(model: Model): void {
  if (model.hasFallback && model.failedAt.length >= ENGINE_FALLBACK_FAILURES) {
    model.fallbacks += 1;
    model.failedAt = [];
    go(model, 'unpacking');
  } else go(model, model.failedAt.length > ENGINE_RESTARTS_MAX ? 'failed' : 'backing_off');
}
function exit(model: Model, real: Real): void {
  real.done('runEngine', 'it ended');
  if (isUp(model)) go(model, 'lost');
}
function readClock(model: Model, real: Real, atMs: number): void {
  real.done('readClock', atMs);
  if (model.at !== 'lost') return;
  const counts = (at: number) => at <= atMs && atMs - at < ENGINE_RESTART_WINDOW_MS;
  model.failedAt = [...model.failedAt.filter(counts), atMs];
  rest(model);
}
function pass(model: Model, ms: number, isDue: boolean): void {
  model.elapsedMs += ms;
  model.upgradingMs += ms;
  if (!isDue) return;
  if (isUpgrading(model)) {
    if (model.upgradingMs >= START_MS) refuse(model);
    else go(model, 'lost');
  } else if (isUp(model)) go(model, 'lost');
  else if (model.at === 'backing_off') go(model, 'unpacking');
  else if (model.at === 'stopping') go(model, 'stopped');
  else if (model.at === 'failed') {
    model.failedAt = [];
    go(model, 'unpacking');
  }
}
function beReady(model: Model, real: Real): void {
  unpack(model, real);
  const hello = { kind: 'k', version: '1', mode: 'm', disabledHooks: [] };
  real.send({ type: 'engine.ready', hello } as never);
  if (model.at === 'starting') go(model, 'running');
}
const ready = move<Model, Real>('ready', beReady);
const alive = fc.nat(HANG_MS - 1).map(
  (afterMs): Move<Model, Real> => ({
    name: `alive(after ${afterMs})`,
    run(model, real) {
      const ms = Math.min(afterMs, (real.nextTimerMs() ?? 1) - 1);
      real.advance(ms);
      pass(model, ms, false);
      real.send({ type: 'engine.alive' });
      if (model.at === 'running' || model.at === 'attaching') model.elapsedMs = 0;
    },
  }),
);
const swells = move<Model, Real>('holds too much', (model, real) => {
  real.send({ type: 'engine.alive', memoryBytes: ENGINE_MEMORY_MAX_BYTES + 1 } as never);
  if (model.at === 'running' || model.at === 'attaching') go(model, 'lost');
});
function find(model: Model, real: Real, sum: string): void {
  real.send({ type: 'engine.newer', build: buildOf(sum) } as never);
  if (model.at !== 'running' || model.refused === sum) return;
  model.trying = sum;
  model.upgradingMs = 0;
  go(model, 'attaching');
}
const newer = fc.constantFrom('a', 'a', 'b').map(
  (sum): Move<Model, Real> => ({
    name: `newer(${sum})`,
    run: (model, real) => find(model, real, sum),
  }),
);
const same = move<Model, Real>('current', (model, real) => {
  real.send({ type: 'engine.current', refusals: [] } as never);
  if (model.at === 'running') model.refused = null;
});
const attached = move<Model, Real>('attached', (model, real) => {
  real.send({ type: 'next.attached' });
  if (model.at !== 'attaching') return;
  model.deeds.push('let go');
  model.at = 'swapping';
});
const nextReady = move<Model, Real>('the next is ready', (model, real) => {
  const hello = { kind: 'k', version: '2', mode: 'm', disabledHooks: [] };
  real.send({ type: 'next.ready', hello } as never);
  if (model.at !== 'swapping') return;
  model.deeds.push(`accept ${model.trying}`);
  model.refused = null;
  go(model, 'running');
});
const nextEnds = fc.boolean().map(
  (isWell): Move<Model, Real> => ({
    name: `the next ends(${isWell})`,
    run(model, real) {
      if (isWell) real.done('runNext', 'it ended');
      else real.fail('runNext');
      refuse(model);
    },
  }),
);
const upgrade = move<Model, Real>('upgrade', (model, real) => {
  beReady(model, real);
  find(model, real, 'c');
});
const breaks = fc.constantFrom('unpackEngine', 'runEngine', 'readClock').map(
  (src): Move<Model, Real> => ({
    name: `break(${src})`,
    run(model, real) {
      real.fail(src);
      if (!RUNS[model.at].includes(src)) return;
      if (src !== 'readClock') go(model, 'lost');
      // A failure that could not be dated is not counted; the list as it was decides.
      else rest(model);
    },
  }),
);
// The wall clock may stand still, go back, or read exactly one window after the oldest failure.
type Skew = number | 'the edge';
const skews = fc.constantFrom<Skew>(0, 0, 0, -HANG_MS, ENGINE_RESTART_WINDOW_MS, 'the edge');
function readSkewed(model: Model, real: Real, skew: Skew): void {
  const edgeMs = (model.failedAt[0] ?? 0) + ENGINE_RESTART_WINDOW_MS;
  readClock(model, real, typeof skew === 'number' ? real.nowMs() + skew : edgeMs);
}
const skewed = skews.map(
  (skew): Move<Model, Real> => ({
    name: `readClock(${skew})`,
    run: (model, real) => readSkewed(model, real, skew),
  }),
);
const times = fc.integer({ min: 1, max: ENGINE_RESTARTS_MAX + 2 });
const crashLoop = fc.tuple(times, skews, fc.boolean()).map(
  ([times, skew, hasFallback]): Move<Model, Real> => ({
    name: `crash(${times} times, then ${skew}, ${hasFallback ? 'with' : 'without'} another)`,
    run(model, real) {
      for (let at = 1; at <= times; at += 1) {
        unpack(model, real, hasFallback);
        exit(model, real);
        readSkewed(model, real, at === times ? skew : 0);
        if (at === times || model.at !== 'backing_off') return;
        const ms = real.nextTimerMs() ?? 0;
        real.advance(ms);
        pass(model, ms, true);
      }
    },
  }),
);
const time = timeMoves<Model, typeof engineMachine>((model, { ms, isDue }) =>
  pass(model, ms, isDue),
);
const stop = move<Model, Real>('stop', (model, real) => {
  real.send({ type: 'stop.requested' });
  if (model.at !== 'stopping' && model.at !== 'stopped') go(model, 'stopping');
});
const stopEnds = fc.boolean().map(
  (isWell): Move<Model, Real> => ({
    name: `stopped(${isWell})`,
    run(model, real) {
      if (isWell) real.done('stopEngine');
      else real.fail('stopEngine');
      if (model.at === 'stopping') go(model, 'stopped');
    },
  }),
);

function deedOf(type: string, params: unknown): string[] {
  const { build } = Object(params) as { readonly build?: { readonly sum: string } };
  if (type === 'letGo') return ['let go'];
  if (type === 'acceptNext') return [`accept ${build?.sum}`];
  return type === 'refuseNext' ? [`refuse ${build?.sum}`] : [];
}

describe('engine', () => {
  itsMachineAgrees(engineMachine, {
    input: fc.integer(),
    begin: (seed) => ({
      model: {
        ...{ at: 'unpacking', losses: 0, fallbacks: 0, failedAt: [], elapsedMs: 0 },
        ...{ hasFallback: false, upgradingMs: 0, trying: '', refused: null, deeds: [] },
      } as Model,
      real: drive(
        engineMachine,
        {
          startTimeoutMs: START_MS,
          hangTimeoutMs: HANG_MS,
          minMs: MIN_MS,
          maxMs: MAX_MS,
          windowMs: ENGINE_RESTART_WINDOW_MS,
          seed,
        },
        1_000_000,
      ),
    }),
    moves: [
      move<Model, Real>('unpacked', (model, real) => unpack(model, real)),
      move<Model, Real>('unpacked, with another', (model, real) => unpack(model, real, true)),
      move('exit', exit),
      ready,
      alive,
      swells,
      breaks,
      skewed,
      crashLoop,
      time,
      time,
      fc.oneof({ weight: 1, arbitrary: stop }, { weight: 5, arbitrary: alive }),
      stopEnds,
      newer,
      same,
      upgrade,
      attached,
      nextReady,
      nextEnds,
    ],
    agree(model, real) {
      const snapshot = real.snapshot();
      const attending = isUpgrading(model) ? { upgrading: model.at } : model.at;
      expect(snapshot.value).toEqual(isUp(model) ? { attending } : model.at);
      expect(snapshot.hasTag('running')).toBe(isUp(model) && model.at !== 'starting');
      const refused = model.refused === null ? [] : [model.refused];
      expect(snapshot.context.refusals.map(({ build }) => build.sum)).toEqual(refused);
      expect(snapshot.context.failuresAtMs).toEqual(model.failedAt);
      expect(real.running()).toEqual(RUNS[model.at]);
      const effects = real.takeEffects();
      model.losses -= effects.filter((one) => one.type === 'tellLost').length;
      model.fallbacks -= effects.filter((one) => one.type === 'fallBack').length;
      expect(model.fallbacks).toBe(0);
      expect(model.losses).toBe(0);
      const deeds = effects.flatMap(({ type, params }) => deedOf(type, params));
      expect(deeds).toEqual(model.deeds);
      model.deeds = [];
      const left = (real.nextTimerMs() ?? Number.NaN) + model.elapsedMs;
      if (model.at === 'starting') expect(left).toBe(START_MS);
      if (model.at === 'swapping')
        expect((real.nextTimerMs() ?? 0) + model.upgradingMs).toBe(START_MS);
      if (model.at === 'running') expect(left).toBe(HANG_MS);
      if (model.at === 'failed') expect(left).toBe(ENGINE_RESTART_WINDOW_MS);
      if (model.at === 'stopping') expect(left).toBe(2 * ENGINE_STOP_TIMEOUT_MS);
      if (model.at !== 'backing_off') return;
      const upperMs = Math.min(MAX_MS, MIN_MS * 2 ** Math.max(1, model.failedAt.length));
      expect(left).toBeGreaterThanOrEqual(Math.max(MIN_MS, upperMs / 2));
      expect(left).toBeLessThanOrEqual(upperMs);
    },
  });
});
