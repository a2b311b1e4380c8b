// The designation beside a small model: whether the lock is asked for, waited for or held, and how old its proof is.
// decision: D60
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import {
  type DesignationEvent,
  designationMachine,
} from '../../machines/console/runtime/designation.machine.ts';
import {
  DESIGNATION_ANSWER_MS,
  DESIGNATION_PROVE_MS,
  DESIGNATION_STAND_TIMEOUT_MS,
  DESIGNATION_TRY_MS,
} from '../../machines/console/runtime/loop-limits.ts';
import { type Driven, drive, itsMachineAgrees, type Move, move, timeMoves } from './driver.ts';

type At = 'standing' | 'waiting' | 'proven' | 'proving' | 'stopped';
type Model = { at: At; tenures: number; elapsedMs: number };
type Real = Driven<typeof designationMachine>;

const VALUES: Readonly<Record<At, unknown>> = {
  standing: 'standing',
  waiting: 'waiting',
  proven: { designated: 'proven' },
  proving: { designated: 'proving' },
  stopped: 'stopped',
};
const RUNS: Readonly<Record<At, readonly string[]>> = {
  standing: ['stand'],
  waiting: [],
  proven: [],
  proving: ['prove'],
  stopped: [],
};
const TIMERS: Readonly<Record<At, number | null>> = {
  standing: DESIGNATION_STAND_TIMEOUT_MS,
  waiting: DESIGNATION_TRY_MS,
  proven: DESIGNATION_PROVE_MS,
  proving: DESIGNATION_ANSWER_MS,
  stopped: null,
};
const AFTER: Readonly<Record<At, At>> = {
  ...{ standing: 'waiting', waiting: 'standing', proven: 'proving', proving: 'waiting' },
  stopped: 'stopped',
};
function go(model: Model, at: At): void {
  model.at = at;
  model.elapsedMs = 0;
}

const stood = fc.option(fc.integer({ min: 1, max: 9 })).map(
  (epoch): Move<Model, Real> => ({
    name: `stood(${epoch})`,
    run(model, real) {
      real.done('stand', epoch);
      if (model.at !== 'standing') return;
      if (epoch !== null) model.tenures += 1;
      go(model, epoch === null ? 'waiting' : 'proven');
    },
  }),
);
const proved = move<Model, Real>('proved', (model, real) => {
  real.done('prove');
  if (model.at === 'proving') go(model, 'proven');
});
const fails = fc.constantFrom('stand', 'prove').map(
  (src): Move<Model, Real> => ({
    name: `fail(${src})`,
    run(model, real) {
      real.fail(src);
      if (RUNS[model.at].includes(src)) go(model, 'waiting');
    },
  }),
);
const lost = move<Model, Real>('lost', (model, real) => {
  const event: DesignationEvent = { type: 'lock.lost', reason: 'gone' };
  real.send(event);
  if (model.at === 'proven' || model.at === 'proving') go(model, 'waiting');
});
const stop = move<Model, Real>('stop', (model, real) => {
  real.send({ type: 'designation.stop' });
  if (model.at !== 'stopped') go(model, 'stopped');
});
const time = timeMoves<Model, typeof designationMachine>((model, { ms, isDue }) => {
  model.elapsedMs += ms;
  if (isDue) go(model, AFTER[model.at]);
});

describe('designation', () => {
  itsMachineAgrees(designationMachine, {
    input: fc.constant(undefined),
    begin: () => ({
      model: { at: 'standing', tenures: 0, elapsedMs: 0 } as Model,
      real: drive(designationMachine),
    }),
    moves: [
      stood,
      stood,
      proved,
      proved,
      fails,
      fc.oneof({ weight: 1, arbitrary: stop }, { weight: 5, arbitrary: lost }),
      time,
      time,
    ],
    agree(model, real) {
      expect(real.snapshot().value).toEqual(VALUES[model.at]);
      expect(real.snapshot().context.tenures).toBe(model.tenures);
      expect(real.running()).toEqual(RUNS[model.at]);
      const leftMs = TIMERS[model.at];
      expect(real.nextTimerMs()).toBe(leftMs === null ? null : leftMs - model.elapsedMs);
    },
  });
});
