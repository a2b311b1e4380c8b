// An exercise beside a small model: where it is and when its window ends. decision: D146
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { exerciseMachine } from '../../machines/console/hunting/exercise.machine.ts';
import { EXERCISE_SETTLE_MS } from '../../machines/limits.ts';
import { type Driven, drive, itsMachineAgrees, move } from './driver.ts';

const WINDOW_MS = 60_000;
type At = 'planned' | 'running' | 'settling' | 'scored' | 'abandoned';
type Model = { at: At; nowMs: number; endsAtMs: number };
type Real = Driven<typeof exerciseMachine>;

const passed = (ms: number) =>
  move<Model, Real>(`${ms} ms passed`, (model, real) => {
    model.nowMs += ms;
    real.send({ type: 'exercise.looked_at', atMs: model.nowMs } as never);
    if (model.at === 'running' && model.nowMs >= model.endsAtMs) model.at = 'settling';
  });
const started = move<Model, Real>('started', (model, real) => {
  real.send({ type: 'exercise.started', atMs: model.nowMs } as never);
  if (model.at !== 'planned') return;
  model.at = 'running';
  model.endsAtMs = model.nowMs + WINDOW_MS;
});
const ended = move<Model, Real>('ended', (model, real) => {
  real.send({ type: 'exercise.ended', atMs: model.nowMs } as never);
  if (model.at !== 'running') return;
  model.at = 'settling';
  model.endsAtMs = Math.min(model.endsAtMs, model.nowMs);
});
const scored = move<Model, Real>('scored', (model, real) => {
  real.send({ type: 'exercise.scored', atMs: model.nowMs } as never);
  if (model.at === 'settling' && model.nowMs >= model.endsAtMs + EXERCISE_SETTLE_MS) {
    model.at = 'scored';
  }
});
const abandoned = move<Model, Real>('abandoned', (model, real) => {
  real.send({ type: 'exercise.abandoned' });
  if (model.at !== 'scored') model.at = 'abandoned';
});

describe('an exercise', () => {
  itsMachineAgrees(exerciseMachine, {
    input: fc.constant({ windowMs: WINDOW_MS }),
    begin: () => ({
      model: { at: 'planned', nowMs: 0, endsAtMs: 0 } as Model,
      real: drive(exerciseMachine, { windowMs: WINDOW_MS }),
    }),
    moves: [started, started, passed(WINDOW_MS), passed(1_000), ended, scored, scored, abandoned],
    agree(model, real) {
      const { value, context } = real.snapshot();
      expect(value).toBe(model.at);
      expect(context.endsAtMs ?? 0).toBe(model.endsAtMs);
      expect(real.nextTimerMs()).toBeNull();
    },
  });
});
