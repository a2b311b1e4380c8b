// The first run beside a set of answered steps: whatever is answered, in whatever order, the question asked next is the
// first needed one that has no answer. decision: D42
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { setupMachine } from '../../machines/console/settings/setup.machine.ts';
import { SETUP_STEPS, type SetupStep } from '../../machines/console/settings/setup.rules.ts';
import { type Driven, drive, itsMachineAgrees, type Move, move } from './driver.ts';

type Model = { isUnlocked: boolean; isWriting: boolean; isWritten: boolean; done: Set<SetupStep> };
type Real = Driven<typeof setupMachine>;
const ORDER = ['platform', 'database', 'analytics', 'admin'] as const;

function stateOf({ isUnlocked, isWriting, isWritten, done }: Model): string {
  if (isWritten) return 'restarting';
  if (!isUnlocked) return 'awaiting_code';
  if (isWriting) return 'writing';
  return ORDER.find((step) => !done.has(step)) ?? 'ready';
}
const takes = (model: Model) => model.isUnlocked && !model.isWriting && !model.isWritten;

const answering = fc.constantFrom(...SETUP_STEPS).map(
  (step): Move<Model, Real> => ({
    name: `answer ${step}`,
    run(model, real) {
      real.send({ type: 'step.done', step } as never);
      const isFirst = step === 'platform' || model.done.has('platform');
      const hasStore = step !== 'analytics' || model.done.has('database');
      if (takes(model) && isFirst && hasStore) model.done.add(step);
    },
  }),
);
const takingBack = fc.constantFrom(...SETUP_STEPS).map(
  (step): Move<Model, Real> => ({
    name: `take ${step} back`,
    run(model, real) {
      real.send({ type: 'step.undone', step } as never);
      const isNeeded = (ORDER as readonly SetupStep[]).includes(step);
      if (takes(model) && !isNeeded) model.done.delete(step);
    },
  }),
);
const showing = move<Model, Real>('show the code', (model, real) => {
  real.send({ type: 'code.accepted' } as never);
  model.isUnlocked = true;
});
const finishing = move<Model, Real>('finish', (model, real) => {
  real.send({ type: 'finish.requested' } as never);
  if (stateOf(model) === 'ready') model.isWriting = true;
});

const failing = move<Model, Real>('writing fails', (model, real) => {
  real.fail('writeConfiguration', new Error('full'));
  if (model.isWriting) model.isWriting = false;
});
const written = move<Model, Real>('it is written', (model, real) => {
  real.done('writeConfiguration');
  if (model.isWriting) {
    model.isWriting = false;
    model.isWritten = true;
  }
});

describe('setup', () => {
  itsMachineAgrees(setupMachine, {
    input: fc.boolean(),
    begin: (isBegun) => {
      const done: SetupStep[] = isBegun ? ['platform', 'database'] : [];
      return {
        model: {
          isUnlocked: false,
          isWriting: false,
          isWritten: false,
          done: new Set(done),
        } as Model,
        real: drive(setupMachine, { done }, 0),
      };
    },
    moves: [
      answering,
      answering,
      answering,
      takingBack,
      showing,
      finishing,
      finishing,
      failing,
      written,
    ],
    agree(model, real) {
      const { value, context } = real.snapshot();
      expect(value).toBe(stateOf(model));
      expect([...context.done].sort()).toEqual([...model.done].sort());
    },
  });
});
