// A digest run beside a small model: where it is, how often it was tried, and whether it may have arrived. decision: D166
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { digestRunMachine } from '../../machines/console/digest/digest-run.machine.ts';
import { DIGEST_GIVE_UP_MS } from '../../machines/limits.ts';
import { type Driven, drive, itsMachineAgrees, move } from './driver.ts';

const STEP_MS = 2 * 3_600_000;
type At = 'due' | 'sending' | 'waiting' | 'sent' | 'failed' | 'unsure' | 'missed';
type Model = { at: At; nowMs: number; attempts: number; mayBeThere: boolean };
type Real = Driven<typeof digestRunMachine>;

const began = move<Model, Real>('began', (model, real) => {
  model.nowMs += STEP_MS;
  real.send({ type: 'attempt.began', atMs: model.nowMs } as never);
  if (model.at !== 'due' && model.at !== 'waiting') return;
  expect(model.mayBeThere).toBe(false);
  Object.assign(model, { at: 'sending', attempts: model.attempts + 1 });
});
const taken = move<Model, Real>('taken', (model, real) => {
  real.send({ type: 'attempt.taken', atMs: model.nowMs, note: null } as never);
  if (model.at === 'sending') Object.assign(model, { at: 'sent', mayBeThere: true });
});
const failed = (isFinal: boolean) =>
  move<Model, Real>(isFinal ? 'refused' : 'failed', (model, real) => {
    const event = { type: 'attempt.failed', atMs: model.nowMs, reason: 'away', isFinal, chance: 0 };
    real.send(event as never);
    if (model.at !== 'sending') return;
    model.at = isFinal || model.nowMs >= DIGEST_GIVE_UP_MS ? 'failed' : 'waiting';
  });
const unsure = (type: 'attempt.unsure' | 'run.lost') =>
  move<Model, Real>(type, (model, real) => {
    real.send({ type, atMs: model.nowMs, reason: 'no answer' } as never);
    if (model.at === 'sending') Object.assign(model, { at: 'unsure', mayBeThere: true });
  });
const passed = move<Model, Real>('passed', (model, real) => {
  real.send({ type: 'day.passed', atMs: model.nowMs, reason: 'away' } as never);
  if (model.at === 'due') model.at = 'missed';
});

describe('a digest run', () => {
  itsMachineAgrees(digestRunMachine, {
    input: fc.constant({ nowMs: 0 }),
    begin: () => ({
      model: { at: 'due', nowMs: 0, attempts: 0, mayBeThere: false } as Model,
      real: drive(digestRunMachine, { nowMs: 0 }),
    }),
    moves: [
      ...[began, began, began, taken, failed(false), failed(false), failed(true)],
      ...[unsure('attempt.unsure'), unsure('run.lost'), passed],
    ],
    agree(model, real) {
      const { value, context } = real.snapshot();
      expect(value).toBe(model.at);
      expect(context.attempts).toBe(model.attempts);
      expect(context.endedAtMs === null).toBe(['due', 'sending', 'waiting'].includes(model.at));
      expect(real.nextTimerMs()).toBeNull();
    },
  });
});
