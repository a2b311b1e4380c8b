// The Sensor's stream beside a few words: never two batches in flight, an acknowledgment ends exactly its batch, and a
// silent Console is left. decision: D6, D9
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { PAUSE_MAX_MS } from '../../machines/limits.ts';
import { streamMachine } from '../../machines/sensor/stream.machine.ts';
import type { OpenOutcome, TickClaim } from '../../machines/sensor/stream.rules.ts';
import { type Driven, drive, itsMachineAgrees, type Move, move, timeMoves } from './driver.ts';

const INPUT = {
  minMs: 1_000,
  maxMs: 30_000,
  openTimeoutMs: 10_000,
  tickMs: 500,
  ackTimeoutMs: 30_000,
  silenceMs: 40_000,
};
type Delivery = 'resting' | 'claiming' | 'sent' | 'acknowledged' | 'refused' | 'paused';
type Model = {
  at: 'opening' | 'waiting' | 'open';
  delivery: Delivery;
  failures: number;
  askedMs: number | null;
  pauseMs: number;
  /** The batch that is sent or being settled. */
  batch: { sequence: number; isFull: boolean } | null;
  code: string | null;
  elapsedMs: number;
  quietMs: number;
  effects: string[];
};
type Real = Driven<typeof streamMachine>;

function go(model: Model, delivery: Delivery): void {
  model.delivery = delivery;
  model.elapsedMs = 0;
}
function lose(model: Model, askedMs: number | null = null): void {
  if (model.at === 'open') model.effects.push('closeSocket', 'tellLost');
  model.at = 'waiting';
  model.failures += 1;
  model.askedMs = askedMs;
  model.elapsedMs = 0;
}
const isAt = (model: Model, ...wanted: Delivery[]) =>
  model.at === 'open' && wanted.includes(model.delivery);

const opened: fc.Arbitrary<OpenOutcome | undefined> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: 'opened' } as const) },
  { weight: 1, arbitrary: fc.constant(undefined) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('failed' as const),
      reason: fc.constant('no'),
      retryAfterMs: fc.option(fc.integer({ min: -5, max: 2 * PAUSE_MAX_MS })),
    }),
  },
);
function openEnded(model: Model, real: Real, outcome: OpenOutcome | undefined): void {
  real.done('openSocket', outcome);
  if (model.at !== 'opening') return;
  if (outcome?.kind === 'opened') {
    model.at = 'open';
    model.failures = 0;
    model.batch = null;
    model.quietMs = 0;
    model.effects.push('tellOpened');
    go(model, 'claiming');
  } else lose(model, outcome?.retryAfterMs ?? null);
}
function claimEnded(model: Model, real: Real, claim: TickClaim | undefined): void {
  real.done('claimBatch', claim);
  if (!isAt(model, 'claiming')) return;
  if (claim === null || claim === undefined) go(model, 'resting');
  else {
    model.batch = { ...claim };
    model.effects.push(`sendBatch ${claim.sequence}`);
    go(model, 'sent');
  }
}
type Answer = 'batch.acknowledged' | 'batch.refused';
function answered(model: Model, real: Real, type: Answer, sequence: number): void {
  real.send({ type, sequence, code: 'sequence_conflict' } as never);
  if (!isAt(model, 'sent') || model.batch?.sequence !== sequence) return;
  model.code = type === 'batch.refused' ? 'sequence_conflict' : null;
  go(model, type === 'batch.refused' ? 'refused' : 'acknowledged');
}
function settled(model: Model, real: Real, isWell: boolean): void {
  if (isWell) real.done('settleBatch');
  else real.fail('settleBatch');
  if (!isAt(model, 'acknowledged', 'refused')) return;
  const goesOn = isWell && model.delivery === 'acknowledged' && model.batch?.isFull === true;
  model.batch = null;
  go(model, goesOn ? 'claiming' : 'resting');
}
const openEnds = opened.map(
  (outcome): Move<Model, Real> => ({
    name: `openSocket(${JSON.stringify(outcome)})`,
    run: (model, real) => openEnded(model, real, outcome),
  }),
);
const sequences = fc.integer({ min: 1, max: 3 });
const claims = fc.record({ sequence: sequences, isFull: fc.boolean() });
const claimEnds = fc.oneof(fc.constantFrom(null, undefined), claims).map(
  (claim): Move<Model, Real> => ({
    name: `claim(${JSON.stringify(claim)})`,
    run: (model, real) => claimEnded(model, real, claim),
  }),
);
const answers = fc.constantFrom<Answer>('batch.acknowledged', 'batch.refused');
const answer = fc.tuple(answers, sequences).map(
  ([type, sequence]): Move<Model, Real> => ({
    name: `${type}(${sequence})`,
    run: (model, real) => answered(model, real, type, sequence),
  }),
);
const settles = fc.boolean().map(
  (isWell): Move<Model, Real> => ({
    name: `settled(${isWell})`,
    run: (model, real) => settled(model, real, isWell),
  }),
);
// What mostly happens: whatever is under way ends well.
const proceed = fc.tuple(claims, answers).map(
  ([claim, type]): Move<Model, Real> => ({
    name: `proceed(${claim.sequence}, ${type})`,
    run(model, real) {
      if (model.at === 'opening') openEnded(model, real, { kind: 'opened' });
      else if (isAt(model, 'claiming')) claimEnded(model, real, claim);
      else if (isAt(model, 'sent')) answered(model, real, type, model.batch?.sequence ?? 0);
      else settled(model, real, true);
    },
  }),
);
const breaks = fc.constantFrom('openSocket', 'claimBatch').map(
  (src): Move<Model, Real> => ({
    name: `break(${src})`,
    run(model, real) {
      real.fail(src);
      if (src === 'openSocket' && model.at === 'opening') lose(model);
      if (src === 'claimBatch' && isAt(model, 'claiming')) go(model, 'resting');
    },
  }),
);
const pause = fc.integer({ min: -5, max: 2 * PAUSE_MAX_MS }).map(
  (ms): Move<Model, Real> => ({
    name: `pause(${ms})`,
    run(model, real) {
      real.send({ type: 'pause.requested', ms } as never);
      if (!isAt(model, 'resting', 'sent')) return;
      model.pauseMs = Math.min(PAUSE_MAX_MS, Math.max(0, ms));
      go(model, 'paused');
    },
  }),
);
const lost = move<Model, Real>('lost', (model, real) => {
  real.send({ type: 'socket.lost', reason: '' } as never);
  if (model.at !== 'waiting') lose(model);
});
const ping = move<Model, Real>('ping', (model, real) => {
  real.send({ type: 'ping.received' });
  model.quietMs = 0;
});
const time = timeMoves<Model, typeof streamMachine>((model, { ms, isDue }) => {
  model.elapsedMs += ms;
  model.quietMs += ms;
  if (model.at === 'opening' && model.elapsedMs >= INPUT.openTimeoutMs) {
    model.effects.push('closeSocket');
    lose(model);
  } else if (model.at === 'waiting' && isDue) {
    model.at = 'opening';
    model.elapsedMs = 0;
  } else if (model.at === 'open') {
    const isGivenUp = isAt(model, 'sent') && model.elapsedMs >= INPUT.ackTimeoutMs;
    if (isGivenUp || model.quietMs >= INPUT.silenceMs) lose(model);
    else if (isAt(model, 'resting') && model.elapsedMs >= INPUT.tickMs) go(model, 'claiming');
    else if (isAt(model, 'paused') && model.elapsedMs >= model.pauseMs) go(model, 'claiming');
  }
});

const RUNS: Readonly<Partial<Record<Delivery, string>>> = {
  claiming: 'claimBatch',
  acknowledged: 'settleBatch',
  refused: 'settleBatch',
};

describe('stream', () => {
  itsMachineAgrees(streamMachine, {
    input: fc.integer(),
    begin: (seed) => ({
      model: {
        at: 'opening',
        delivery: 'claiming',
        failures: 0,
        askedMs: null,
        pauseMs: 0,
        batch: null,
        code: null,
        elapsedMs: 0,
        quietMs: 0,
        effects: [],
      } as Model,
      real: drive(streamMachine, { ...INPUT, seed }),
    }),
    moves: [
      proceed,
      proceed,
      proceed,
      proceed,
      proceed,
      proceed,
      openEnds,
      claimEnds,
      answer,
      settles,
      breaks,
      pause,
      fc.oneof(lost, ping, ping, ping, ping, ping),
      time,
      time,
    ],
    agree(model, real) {
      const { value, context } = real.snapshot();
      const isSettling = isAt(model, 'acknowledged', 'refused');
      const delivery = isSettling ? { settling: model.delivery } : model.delivery;
      expect(value).toEqual(
        model.at === 'open' ? { open: { delivery, liveness: 'listening' } } : model.at,
      );
      expect(real.snapshot().hasTag('can-send')).toBe(model.at === 'open');
      expect(context.failures).toBe(model.failures);
      const runs = model.at === 'opening' ? 'openSocket' : RUNS[model.delivery];
      expect(real.running()).toEqual(model.at === 'waiting' || runs === undefined ? [] : [runs]);
      if (isAt(model, 'sent')) expect(context.sequence).toBe(model.batch?.sequence);
      if (isSettling) {
        const { code } = model;
        expect(real.inputOf('settleBatch')).toEqual({ sequence: model.batch?.sequence, code });
      }
      const said = real.takeEffects().map(({ type, params }) => {
        const { sequence = null } = (params ?? {}) as { readonly sequence?: number };
        return sequence === null ? type : `${type} ${sequence}`;
      });
      expect(said).toEqual(model.effects.splice(0));
      if (model.at !== 'waiting') return;
      const waitMs = (real.nextTimerMs() ?? -1) + model.elapsedMs;
      const asked = Math.min(PAUSE_MAX_MS, Math.max(0, model.askedMs ?? 0));
      const upperMs = Math.min(INPUT.maxMs, INPUT.minMs * 2 ** model.failures);
      expect(waitMs).toBeGreaterThanOrEqual(Math.max(asked, INPUT.minMs, upperMs / 2));
      expect(waitMs).toBeLessThanOrEqual(Math.max(asked, upperMs));
    },
  });
});
