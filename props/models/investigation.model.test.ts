// An investigation beside a small model: where it is, and whose. decision: D143
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { investigationMachine } from '../../machines/console/hunting/investigation.machine.ts';
import { type Driven, drive, itsMachineAgrees, move } from './driver.ts';

type At = 'open' | 'in_progress' | 'handed_over' | 'closed';
type Model = { at: At; who: string | null; reopenings: number };
type Real = Driven<typeof investigationMachine>;

const taken = (by: string) =>
  move<Model, Real>(`taken by ${by}`, (model, real) => {
    real.send({ type: 'investigation.taken', by } as never);
    if (model.at === 'closed') return;
    model.at = 'in_progress';
    model.who = by;
  });
const handedOver = move<Model, Real>('handed over', (model, real) => {
  real.send({ type: 'investigation.handed_over', by: 'a', to: 'b' } as never);
  if (model.at === 'closed') return;
  model.at = 'handed_over';
  model.who = 'b';
});
const closed = move<Model, Real>('closed', (model, real) => {
  real.send({ type: 'investigation.closed', atMs: 1, outcome: 'benign' } as never);
  model.at = 'closed';
});
const reopened = move<Model, Real>('reopened', (model, real) => {
  real.send({ type: 'investigation.reopened' });
  if (model.at !== 'closed') return;
  model.at = 'open';
  model.reopenings += 1;
});

describe('an investigation', () => {
  itsMachineAgrees(investigationMachine, {
    input: fc.constant(undefined),
    begin: () => ({
      model: { at: 'open', who: null, reopenings: 0 } as Model,
      real: drive(investigationMachine),
    }),
    moves: [taken('a'), taken('c'), handedOver, closed, reopened],
    agree(model, real) {
      const { value, context } = real.snapshot();
      expect(value).toBe(model.at);
      expect(context.assignee).toBe(model.who);
      expect(context.reopenings).toBe(model.reopenings);
      expect(real.nextTimerMs()).toBeNull();
    },
  });
});
