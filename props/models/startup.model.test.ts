// The start of the Console beside a counter: ten steps in order, the first failure ends it. invariant: I14
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { startupMachine } from '../../machines/console/runtime/startup.machine.ts';
import { STARTUP_STEPS } from '../../machines/console/runtime/startup.rules.ts';
import { STARTUP_STEP_TIMEOUT_MS } from '../../machines/limits.ts';
import { type Driven, drive, itsMachineAgrees, type Move, timeMoves } from './driver.ts';

type Model = { outcomes: string[]; failure: string | null; leftMs: number };
type Real = Driven<typeof startupMachine>;

const isRunning = (model: Model) =>
  model.failure === null && model.outcomes.length < STARTUP_STEPS.length;
const ends = fc.constantFrom('done', 'done', 'done', 'done', 'not_configured').map(
  (outcome): Move<Model, Real> => ({
    name: outcome,
    run(model, real) {
      real.done('runStep', outcome);
      if (!isRunning(model)) return;
      model.outcomes.push(outcome);
      model.leftMs = STARTUP_STEP_TIMEOUT_MS;
    },
  }),
);
const fails = fc.string({ maxLength: 5 }).map(
  (text): Move<Model, Real> => ({
    name: `fail(${JSON.stringify(text)})`,
    run(model, real) {
      real.fail('runStep', new Error(text));
      if (isRunning(model)) model.failure = text;
    },
  }),
);
const time = timeMoves<Model, typeof startupMachine>((model, { ms }) => {
  if (!isRunning(model)) return;
  model.leftMs -= ms;
  if (model.leftMs <= 0) model.failure = 'the step took too long';
});

describe('startup', () => {
  itsMachineAgrees(startupMachine, {
    input: fc.constant(undefined),
    begin: () => ({
      model: { outcomes: [], failure: null, leftMs: STARTUP_STEP_TIMEOUT_MS } as Model,
      real: drive(startupMachine),
    }),
    moves: [ends, ends, ends, ends, ends, ends, ends, fails, time],
    agree(model, real) {
      const { value, context } = real.snapshot();
      const step = STARTUP_STEPS[model.outcomes.length];
      expect(context.steps.map((one) => one.outcome)).toEqual(model.outcomes);
      expect(context.reason).toBe(model.failure);
      expect(context.failedStep).toBe(model.failure === null ? null : step);
      expect(value).toBe(model.failure === null ? (step ?? 'serving') : 'failed');
      expect(real.running()).toEqual(isRunning(model) ? ['runStep'] : []);
      if (isRunning(model)) expect(real.inputOf('runStep')).toEqual({ step });
    },
  });
});
