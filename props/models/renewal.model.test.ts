// The renewal beside the dates it knows: it asks inside the window and only there, tries the new certificate before it
// counts, goes back when that is refused, and forgets the previous one when its overlap is over. invariant: I4
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { RENEWAL_CHECK_MAX_MS } from '../../machines/limits.ts';
import { renewalMachine } from '../../machines/sensor/renewal.machine.ts';
import type { RenewalOutcome, TrialOutcome } from '../../machines/sensor/renewal.rules.ts';
import { type Driven, drive, itsMachineAgrees, type Move, move, timeMoves } from './driver.ts';

const HOUR_MS = 3_600_000;
const START_MS = 1_000 * HOUR_MS;
const RECOMMENDED_MS = 72 * HOUR_MS;
const MIN_MS = 5_000;
const MAX_MS = 900_000;
const SOONEST_MS = 100;
type At =
  | 'looking'
  | 'sleeping'
  | 'resting'
  | 'renewing'
  | 'trying'
  | 'falling_back'
  | 'retrying'
  | 'retesting';
type Model = {
  at: At;
  /** What the wall clock shows more than the timers' clock. */
  offsetMs: number;
  /** The wall clock when it was last read. */
  readAtMs: number;
  notAfterMs: number;
  overlapEndsMs: number | null;
  failures: number;
  askedMs: number | null;
  isFresh: boolean;
  elapsedMs: number;
  effects: string[];
};
type Real = Driven<typeof renewalMachine>;

const RUNS: Readonly<Partial<Record<At, string>>> = {
  looking: 'readClock',
  renewing: 'renewCertificate',
  trying: 'tryCertificate',
  falling_back: 'fallBack',
};
function go(model: Model, at: At): void {
  model.at = at;
  model.elapsedMs = 0;
  if (at === 'sleeping' || at === 'resting') model.isFresh = false;
  if (at === 'renewing') model.effects.push('tellRenewing');
}
function failed(model: Model, at: At, askedMs: number | null = null): void {
  model.failures += 1;
  model.askedMs = askedMs;
  go(model, at);
}
function decide(model: Model): void {
  if (model.overlapEndsMs !== null && model.readAtMs >= model.overlapEndsMs) {
    model.overlapEndsMs = null;
    model.effects.push('forgetPrevious');
  }
  const isDue = model.notAfterMs - model.readAtMs <= RECOMMENDED_MS;
  if (!isDue) go(model, 'sleeping');
  else go(model, model.isFresh ? 'resting' : 'renewing');
}
/** When the next look is, from the wall clock that was read last. */
function nextLookMs(model: Model): number {
  const at = [model.notAfterMs - RECOMMENDED_MS, model.overlapEndsMs ?? 0]
    .filter((one) => one > model.readAtMs)
    .concat(model.readAtMs + RENEWAL_CHECK_MAX_MS);
  return Math.max(SOONEST_MS, Math.min(...at) - model.readAtMs);
}

function look(model: Model, real: Real): void {
  const nowMs = real.nowMs() + model.offsetMs;
  real.done('readClock', nowMs);
  if (model.at !== 'looking') return;
  model.readAtMs = nowMs;
  decide(model);
}
function pass(model: Model, ms: number, isDue: boolean): void {
  model.elapsedMs += ms;
  if (!isDue) return;
  if (model.at === 'sleeping' || model.at === 'resting') go(model, 'looking');
  else if (model.at === 'retrying') go(model, 'renewing');
  else if (model.at === 'retesting') go(model, 'trying');
}
const looks = move<Model, Real>('look', look);
const renewed: fc.Arbitrary<RenewalOutcome | undefined> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(undefined) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('renewed' as const),
      notAfterMs: fc.integer({ min: 0, max: 900 }).map((hours) => START_MS + hours * HOUR_MS),
      overlapEndsMs: fc.integer({ min: -1, max: 48 }).map((hours) => START_MS + hours * HOUR_MS),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('failed' as const),
      reason: fc.constant('busy'),
      retryAfterMs: fc.option(fc.integer({ min: -5, max: 2 * MAX_MS })),
    }),
  },
);
function answered(model: Model, real: Real, outcome: RenewalOutcome | undefined): void {
  real.done('renewCertificate', outcome);
  if (model.at !== 'renewing') return;
  if (outcome?.kind === 'renewed') {
    model.notAfterMs = outcome.notAfterMs;
    model.overlapEndsMs = outcome.overlapEndsMs;
    go(model, 'trying');
  } else {
    model.effects.push('tellFailed');
    failed(model, 'retrying', outcome?.retryAfterMs ?? null);
  }
}
function tried(model: Model, real: Real, outcome: TrialOutcome | undefined): void {
  real.done('tryCertificate', outcome);
  if (model.at !== 'trying') return;
  if (outcome === 'accepted') {
    model.failures = 0;
    model.isFresh = true;
    model.effects.push('tellRenewed');
    go(model, 'looking');
  } else if (outcome === 'rejected') go(model, 'falling_back');
  else failed(model, 'retesting');
}
const answer = renewed.map(
  (outcome): Move<Model, Real> => ({
    name: `answer(${JSON.stringify(outcome)})`,
    run: (model, real) => answered(model, real, outcome),
  }),
);
const trial = fc
  .constantFrom<TrialOutcome | undefined>(
    'accepted',
    'accepted',
    'rejected',
    'unreachable',
    undefined,
  )
  .map(
    (outcome): Move<Model, Real> => ({
      name: `try(${outcome})`,
      run: (model, real) => tried(model, real, outcome),
    }),
  );
// What mostly happens: a renewal that works, and the look at the instant its overlap ends. Now and then the new
// certificate is as short as if a clock were wrong.
const renewWell = fc.tuple(fc.integer({ min: 1, max: 23 }), fc.constantFrom(720, 720, 48)).map(
  ([hours, lifetimeHours]): Move<Model, Real> => ({
    name: `renew well(overlap ${hours} h, lifetime ${lifetimeHours} h)`,
    may: (model) => model.at === 'renewing',
    run(model, real) {
      const wallMs = real.nowMs() + model.offsetMs;
      const overlapEndsMs = wallMs + hours * HOUR_MS;
      const notAfterMs = wallMs + lifetimeHours * HOUR_MS;
      answered(model, real, { kind: 'renewed', notAfterMs, overlapEndsMs });
      tried(model, real, 'accepted');
      look(model, real);
      const ms = real.nextTimerMs() ?? 0;
      real.advance(ms);
      pass(model, ms, true);
      look(model, real);
    },
  }),
);
function fellBack(model: Model, real: Real, hours: number): void {
  const notAfterMs = START_MS + hours * HOUR_MS;
  real.done('fallBack', { notAfterMs });
  if (model.at !== 'falling_back') return;
  Object.assign(model, { notAfterMs, overlapEndsMs: null, failures: 0 });
  model.effects.push('tellFailed');
  failed(model, 'retrying');
}
// What mostly happens: whatever is under way ends; a trial as often well as badly.
const proceed = fc
  .tuple(
    fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 60, max: 800 })),
    fc.constantFrom<TrialOutcome>('accepted', 'accepted', 'rejected', 'unreachable'),
  )
  .map(
    ([hours, outcome]): Move<Model, Real> => ({
      name: `proceed(${hours} h, ${outcome})`,
      run(model, real) {
        const notAfterMs = START_MS + hours * HOUR_MS;
        const overlapEndsMs = real.nowMs() + HOUR_MS;
        if (model.at === 'looking') look(model, real);
        else if (model.at === 'renewing') {
          answered(model, real, { kind: 'renewed', notAfterMs, overlapEndsMs });
        } else if (model.at === 'trying') tried(model, real, outcome);
        else fellBack(model, real, hours);
      },
    }),
  );
const breaks = fc.constantFrom(...Object.values(RUNS)).map(
  (src): Move<Model, Real> => ({
    name: `break(${src})`,
    run(model, real) {
      real.fail(src);
      if (RUNS[model.at] !== src) return;
      if (src === 'readClock') return go(model, 'sleeping');
      if (src === 'tryCertificate') return failed(model, 'retesting');
      model.effects.push('tellFailed');
      failed(model, 'retrying');
    },
  }),
);
const request = move<Model, Real>('renewal.requested', (model, real) => {
  real.send({ type: 'renewal.requested' });
  if (model.at === 'sleeping') go(model, 'renewing');
});
const jump = fc.integer({ min: -100, max: 100 }).map(
  (hours): Move<Model, Real> => ({
    name: `jump(${hours} h)`,
    run(model, real) {
      model.offsetMs += hours * HOUR_MS;
      real.send({ type: 'clock.jumped' });
      if (model.at === 'sleeping' || model.at === 'resting') go(model, 'looking');
    },
  }),
);
const time = timeMoves<Model, typeof renewalMachine>((model, { ms, isDue }) =>
  pass(model, ms, isDue),
);

describe('renewal', () => {
  itsMachineAgrees(renewalMachine, {
    input: fc.record({ hours: fc.integer({ min: 0, max: 720 }), seed: fc.integer() }),
    begin: ({ hours, seed }) => {
      const notAfterMs = START_MS + hours * HOUR_MS;
      const dates = { notAfterMs, overlapEndsMs: null, recommendedMs: RECOMMENDED_MS };
      const retry = { dueMs: 24 * HOUR_MS, retryMinMs: MIN_MS, retryMaxMs: MAX_MS, seed };
      return {
        model: {
          at: 'looking',
          offsetMs: 0,
          readAtMs: 0,
          notAfterMs,
          overlapEndsMs: null,
          failures: 0,
          askedMs: null,
          isFresh: false,
          elapsedMs: 0,
          effects: [],
        } as Model,
        real: drive(renewalMachine, { ...dates, ...retry }, START_MS),
      };
    },
    moves: [
      looks,
      answer,
      trial,
      renewWell,
      proceed,
      proceed,
      proceed,
      proceed,
      breaks,
      request,
      jump,
      looks,
      time,
      time,
    ],
    agree(model, real) {
      const snapshot = real.snapshot();
      expect(snapshot.value).toBe(model.at);
      const { notAfterMs, overlapEndsMs, failures, isFresh } = model;
      expect(snapshot.context).toMatchObject({ notAfterMs, overlapEndsMs, failures, isFresh });
      const isBusy = ['renewing', 'trying', 'falling_back'].includes(model.at);
      expect(snapshot.hasTag('renewing')).toBe(isBusy);
      const runs = RUNS[model.at];
      expect(real.running()).toEqual(runs === undefined ? [] : [runs]);
      expect(real.takeEffects().map((one) => one.type)).toEqual(model.effects.splice(0));
      const waitMs = (real.nextTimerMs() ?? Number.NaN) + model.elapsedMs;
      if (model.at === 'sleeping') expect(waitMs).toBe(nextLookMs(model));
      if (model.at === 'resting') expect(waitMs).toBe(MAX_MS);
      if (model.at !== 'retrying' && model.at !== 'retesting') return;
      const asked = Math.min(MAX_MS, Math.max(0, model.askedMs ?? 0));
      const upperMs = Math.min(MAX_MS, MIN_MS * 2 ** failures);
      expect(waitMs).toBeGreaterThanOrEqual(Math.max(asked, MIN_MS, upperMs / 2));
      expect(waitMs).toBeLessThanOrEqual(Math.max(asked, upperMs));
    },
  });
});
