// An alert beside a small model: where it is, how much it counted, and who has it. decision: D130
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { alertMachine } from '../../machines/console/detection/alert.machine.ts';
import { type Driven, drive, itsMachineAgrees, move } from './driver.ts';

const STEP_MS = 1_000;
const QUIET_MS = 2_500;
const FIRST = { count: 1, firstAtMs: 0, lastAtMs: 0, severity: 'low', eventIds: ['0'] };
type At = 'open' | 'acknowledged' | 'resolved' | 'reopened';
type Model = { at: At; nowMs: number; count: number; quietUntilMs: number; has: string | null };
type Real = Driven<typeof alertMachine>;

const matched = move<Model, Real>('matched', (model, real) => {
  model.nowMs += STEP_MS;
  const facts = { ...FIRST, count: 3, eventIds: ['1', '2', '3'], lastAtMs: model.nowMs };
  real.send({
    ...{ type: 'alert.matched', atMs: model.nowMs, quietMs: QUIET_MS, matched: facts },
  } as never);
  const isQuiet = model.at === 'resolved' && model.nowMs < model.quietUntilMs;
  if (model.at === 'open' || model.at === 'acknowledged' || isQuiet) model.count += 3;
});
const acknowledged = move<Model, Real>('acknowledged', (model, real) => {
  real.send({ type: 'alert.acknowledged', atMs: model.nowMs, by: 'ada' } as never);
  if (model.at === 'open') model.at = 'acknowledged';
});
const assigned = (to: string | null) =>
  move<Model, Real>(`assigned to ${to}`, (model, real) => {
    real.send({ type: 'alert.assigned', atMs: model.nowMs, to } as never);
    if (model.at === 'open' || model.at === 'acknowledged') model.has = to;
  });
const resolved = move<Model, Real>('resolved', (model, real) => {
  real.send({
    ...{ type: 'alert.resolved', atMs: model.nowMs, by: 'ada', resolution: 'fixed' },
  } as never);
  if (model.at !== 'open' && model.at !== 'acknowledged') return;
  model.at = 'resolved';
  model.quietUntilMs = model.nowMs + QUIET_MS;
});
const reopened = move<Model, Real>('reopened', (model, real) => {
  real.send({ type: 'alert.reopened', atMs: model.nowMs, as: 'other' } as never);
  if (model.at === 'resolved') model.at = 'reopened';
});

describe('an alert', () => {
  itsMachineAgrees(alertMachine, {
    input: fc.constant(FIRST),
    begin: () => ({
      model: { at: 'open', nowMs: 0, count: 1, quietUntilMs: 0, has: null } as Model,
      real: drive(alertMachine, FIRST as never),
    }),
    moves: [matched, matched, acknowledged, assigned('ada'), assigned(null), resolved, reopened],
    agree(model, real) {
      const { value, context } = real.snapshot();
      expect(value).toBe(model.at);
      expect(context.count).toBe(model.count);
      expect(context.assignee).toBe(model.has);
      expect(real.nextTimerMs()).toBeNull();
    },
  });
});
