// A breaker beside a small model: failures in a row, an instant, and what was tried since. decision: D102
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { destinationMachine } from '../../machines/console/delivery/destination.machine.ts';
import {
  BREAKER_FAILURES_MAX,
  BREAKER_OPEN_MAX_MS,
  BREAKER_OPEN_MIN_MS,
} from '../../machines/limits.ts';
import { type Driven, drive, itsMachineAgrees, move } from './driver.ts';

type Model = {
  at: 'closed' | 'open' | 'probing';
  nowMs: number;
  failures: number;
  openings: number;
  untilMs: number;
};
type Real = Driven<typeof destinationMachine>;

function open(model: Model): void {
  model.at = 'open';
  const forMs = BREAKER_OPEN_MIN_MS * 2 ** model.openings;
  model.untilMs = model.nowMs + Math.min(BREAKER_OPEN_MAX_MS, forMs);
  model.openings += 1;
}
function close(model: Model): void {
  Object.assign(model, { at: 'closed', failures: 0, openings: 0, untilMs: 0 });
}
const failed = move<Model, Real>('failed', (model, real) => {
  real.send({ type: 'attempt.failed', atMs: model.nowMs, failure: 'x' } as never);
  model.failures += 1;
  if (model.at === 'probing') open(model);
  else if (model.at === 'closed' && model.failures >= BREAKER_FAILURES_MAX) open(model);
});
const accepted = move<Model, Real>('accepted', (model, real) => {
  real.send({ type: 'attempt.accepted', atMs: model.nowMs } as never);
  close(model);
});
const refused = move<Model, Real>('refused', (model, real) => {
  real.send({ type: 'attempt.refused', atMs: model.nowMs, failure: 'x' } as never);
  close(model);
});
const reset = move<Model, Real>('reset', (model, real) => {
  real.send({ type: 'breaker.reset' } as never);
  close(model);
});
const due = (waitMs: number) =>
  move<Model, Real>(`due after ${waitMs}`, (model, real) => {
    model.nowMs += waitMs;
    real.send({ type: 'probe.due', atMs: model.nowMs } as never);
    if (model.at === 'open' && model.nowMs >= model.untilMs) model.at = 'probing';
  });

describe('a destination', () => {
  itsMachineAgrees(destinationMachine, {
    input: fc.constant(undefined),
    begin: () => ({
      model: { at: 'closed', nowMs: 0, failures: 0, openings: 0, untilMs: 0 } as Model,
      real: drive(destinationMachine),
    }),
    moves: [
      failed,
      failed,
      failed,
      failed,
      due(0),
      due(BREAKER_OPEN_MIN_MS),
      accepted,
      refused,
      reset,
    ],
    agree({ at, failures, openings, untilMs }, real) {
      const { value, context } = real.snapshot();
      expect(value).toBe(at);
      expect(context).toMatchObject({ failures, openings, openUntilMs: untilMs });
      expect(real.nextTimerMs()).toBeNull();
    },
  });
});
