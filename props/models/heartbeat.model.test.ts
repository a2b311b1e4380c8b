// The heartbeat and the drain beside two words and their timers: one heartbeat in flight, one batch in flight, a wish
// during a heartbeat is kept, and a Console that refuses is not asked sooner for it. decision: D6, D13
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import {
  HEARTBEAT_INTERVAL_MAX_MS,
  HEARTBEAT_INTERVAL_MIN_MS,
  HEARTBEAT_SOON_MS,
  PAUSE_MAX_MS,
} from '../../machines/limits.ts';
import { heartbeatMachine } from '../../machines/sensor/heartbeat.machine.ts';
import {
  type DrainOutcome,
  type HeartbeatOutcome,
  heartbeatDelayMs,
} from '../../machines/sensor/heartbeat.rules.ts';
import { type Driven, drive, itsMachineAgrees, type Move, move, timeMoves } from './driver.ts';

const HOLD_MS = 3_000;
type Model = {
  beat: 'holding' | 'soon' | 'waiting' | 'sending';
  drain: 'idle' | 'sending' | 'paused';
  seed: number;
  configuredMs: number;
  intervalMs: number;
  beats: number;
  failures: number;
  askedMs: number | null;
  isWanted: boolean;
  /** Milliseconds until the beat's and the drain's timer. */
  beatLeftMs: number;
  drainLeftMs: number;
  failuresTold: number;
};
type Real = Driven<typeof heartbeatMachine>;

function accept(model: Model, askedMs: number): void {
  if (model.configuredMs < HEARTBEAT_INTERVAL_MIN_MS) return;
  const atLeast = Math.max(HEARTBEAT_INTERVAL_MIN_MS, askedMs);
  model.intervalMs = Math.min(HEARTBEAT_INTERVAL_MAX_MS, atLeast);
}
const mayHurry = (model: Model) => model.failures === 0 && model.askedMs === null;
function hurry(model: Model): void {
  model.beat = 'soon';
  model.beatLeftMs = Math.min(HEARTBEAT_SOON_MS, model.intervalMs);
}
function wait(model: Model): void {
  const usualMs = heartbeatDelayMs(model.intervalMs, model.seed, model.beats);
  expect(Math.abs(usualMs - model.intervalMs)).toBeLessThanOrEqual(model.intervalMs / 10 + 0.001);
  // Whoever answers is not made to wait for its heartbeat.
  const waitMs = model.failures > 0 ? (model.askedMs ?? 0) : 0;
  const askedMs = Math.min(PAUSE_MAX_MS, Math.max(0, waitMs));
  model.beat = 'waiting';
  model.beatLeftMs = Math.ceil(Math.max(usualMs, askedMs));
  if (model.isWanted && mayHurry(model)) hurry(model);
}
function beatNow(model: Model): void {
  model.beat = 'sending';
  model.isWanted = false;
}
function failed(model: Model, askedMs: number | null): void {
  model.beats += 1;
  model.failures += 1;
  model.askedMs = askedMs;
  model.failuresTold += 1;
  wait(model);
}

const outcome: fc.Arbitrary<HeartbeatOutcome | undefined> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(undefined) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('delivered' as const),
      intervalMs: fc.option(fc.integer({ min: 1, max: 60_000 })),
      needsDrain: fc.boolean(),
      retryAfterMs: fc.option(fc.integer({ min: 0, max: 2 * PAUSE_MAX_MS }), { freq: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('failed' as const),
      reason: fc.constant('no'),
      retryAfterMs: fc.option(fc.integer({ min: -5, max: 2 * PAUSE_MAX_MS })),
    }),
  },
);
const sent = outcome.map(
  (given): Move<Model, Real> => ({
    name: `sent(${JSON.stringify(given)})`,
    run(model, real) {
      real.done('sendHeartbeat', given);
      if (model.beat !== 'sending') return;
      if (given?.kind !== 'delivered') return failed(model, given?.retryAfterMs ?? null);
      model.beats += 1;
      model.failures = 0;
      model.askedMs = given.retryAfterMs;
      if (given.intervalMs !== null) accept(model, given.intervalMs);
      wait(model);
      const mayDrain = given.needsDrain && given.retryAfterMs === null;
      if (mayDrain && model.drain === 'idle') model.drain = 'sending';
    },
  }),
);
const drained: fc.Arbitrary<DrainOutcome | undefined> = fc.oneof(
  fc.constantFrom(undefined, { kind: 'empty' } as const, { kind: 'failed', reason: '' } as const),
  fc.constant({ kind: 'more' } as const),
  fc.record({
    kind: fc.constant('paused' as const),
    retryAfterMs: fc.integer({ min: -5, max: 2 * PAUSE_MAX_MS }),
  }),
);
const drainEnds = drained.map(
  (given): Move<Model, Real> => ({
    name: `drained(${JSON.stringify(given)})`,
    run(model, real) {
      real.done('drainBatch', given);
      if (model.drain !== 'sending' || given?.kind === 'more') return;
      model.drain = given?.kind === 'paused' ? 'paused' : 'idle';
      if (given?.kind === 'paused') {
        model.drainLeftMs = Math.min(PAUSE_MAX_MS, Math.max(0, given.retryAfterMs));
      }
    },
  }),
);
const breaks = fc.constantFrom('sendHeartbeat', 'drainBatch').map(
  (src): Move<Model, Real> => ({
    name: `break(${src})`,
    run(model, real) {
      real.fail(src);
      if (src === 'sendHeartbeat' && model.beat === 'sending') failed(model, null);
      if (src === 'drainBatch' && model.drain === 'sending') model.drain = 'idle';
    },
  }),
);
const request = move<Model, Real>('heartbeat.requested', (model, real) => {
  real.send({ type: 'heartbeat.requested' });
  if (model.beat === 'sending') model.isWanted = true;
  else if (model.beat === 'waiting' && mayHurry(model)) hurry(model);
});
const settle = move<Model, Real>('stream.settled', (model, real) => {
  real.send({ type: 'stream.settled' });
  if (model.beat === 'holding') beatNow(model);
});
const setInterval = fc.integer({ min: 1, max: 60_000 }).map(
  (intervalMs): Move<Model, Real> => ({
    name: `interval(${intervalMs})`,
    run(model, real) {
      real.send({ type: 'interval.set', intervalMs } as never);
      accept(model, intervalMs);
    },
  }),
);
const drain = move<Model, Real>('drain.requested', (model, real) => {
  real.send({ type: 'drain.requested' });
  if (model.drain === 'idle') model.drain = 'sending';
});
const time = timeMoves<Model, typeof heartbeatMachine>((model, { ms }) => {
  model.beatLeftMs -= ms;
  model.drainLeftMs -= ms;
  if (model.beat !== 'sending' && model.beatLeftMs <= 0) beatNow(model);
  if (model.drain === 'paused' && model.drainLeftMs <= 0) model.drain = 'sending';
});

describe('heartbeat', () => {
  itsMachineAgrees(heartbeatMachine, {
    input: fc.record({ intervalMs: fc.constantFrom(100, 15_000), seed: fc.integer() }),
    begin: ({ intervalMs, seed }) => ({
      model: {
        beat: 'holding',
        drain: 'idle',
        seed,
        configuredMs: intervalMs,
        intervalMs,
        beats: 0,
        failures: 0,
        askedMs: null,
        isWanted: false,
        beatLeftMs: HOLD_MS,
        drainLeftMs: 0,
        failuresTold: 0,
      } as Model,
      real: drive(heartbeatMachine, { intervalMs, holdMs: HOLD_MS, seed }),
    }),
    moves: [sent, sent, sent, drainEnds, breaks, request, settle, setInterval, drain, time, time],
    agree(model, real) {
      const { value, context } = real.snapshot();
      expect(value).toEqual({ beat: model.beat, drain: model.drain });
      expect(context).toMatchObject({
        intervalMs: model.intervalMs,
        beats: model.beats,
        failures: model.failures,
        isWanted: model.isWanted,
      });
      const runs = [
        ...(model.drain === 'sending' ? ['drainBatch'] : []),
        ...(model.beat === 'sending' ? ['sendHeartbeat'] : []),
      ];
      expect(real.running()).toEqual(runs);
      if (model.beat === 'sending') {
        expect(real.inputOf('sendHeartbeat')).toEqual({ hasFailedBefore: model.failures > 0 });
      }
      const left = [
        ...(model.beat === 'sending' ? [] : [model.beatLeftMs]),
        ...(model.drain === 'paused' ? [model.drainLeftMs] : []),
      ];
      expect(real.nextTimerMs()).toBe(left.length === 0 ? null : Math.min(...left));
      expect(real.takeEffects().length).toBe(model.failuresTold);
      model.failuresTold = 0;
    },
  });
});
