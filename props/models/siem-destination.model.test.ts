// A SIEM destination beside a small model: where it is, how often it failed, and how much of its events is done with.
// decision: D153
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { siemDestinationMachine } from '../../machines/console/siem/siem-destination.machine.ts';
import { SIEM_FAILURES_MAX } from '../../machines/limits.ts';
import { type Driven, drive, itsMachineAgrees, move } from './driver.ts';

type At = 'forwarding' | 'holding' | 'open' | 'stopped' | 'paused';
type Model = { at: At; failures: number; doneMs: number; sent: number };
type Real = Driven<typeof siemDestinationMachine>;

const place = (receivedAtMs: number) => ({ receivedAtMs, eventId: '' });
const isHeld = ({ at }: Model): boolean => at === 'stopped' || at === 'paused';
const step = (model: Model) => ({ from: place(model.doneMs), to: place(model.doneMs + 1) });

const accepted = move<Model, Real>('accepted', (model, real) => {
  const event = { type: 'batch.accepted', atMs: 1, events: 3, refused: 0, ...step(model) };
  real.send(event as never);
  model.doneMs += 1;
  model.sent += 3;
  model.failures = 0;
  if (!isHeld(model)) model.at = 'forwarding';
});
const late = move<Model, Real>('accepted from elsewhere', (model, real) => {
  const elsewhere = { from: place(-1), to: place(9_999) };
  const event = { type: 'batch.accepted', atMs: 1, events: 3, refused: 0, ...elsewhere };
  real.send(event as never);
  model.sent += 3;
  model.failures = 0;
  if (!isHeld(model)) model.at = 'forwarding';
});
const failed = move<Model, Real>('failed', (model, real) => {
  const event = { type: 'batch.failed', atMs: 1, failure: 'x', retryAfterMs: null, chance: 0 };
  real.send(event as never);
  if (isHeld(model)) return;
  model.failures += 1;
  model.at = model.failures >= SIEM_FAILURES_MAX ? 'open' : 'holding';
});
const stopped = move<Model, Real>('credentials refused', (model, real) => {
  real.send({ type: 'credentials.refused', atMs: 1, failure: 'x' } as never);
  if (!isHeld(model)) model.at = 'stopped';
});
const none = move<Model, Real>('nothing', (model, real) => {
  real.send({ type: 'events.none', ...step(model) } as never);
  if (!isHeld(model)) model.doneMs += 1;
});
const paused = move<Model, Real>('paused', (model, real) => {
  real.send({ type: 'destination.paused' } as never);
  model.at = 'paused';
});
const resumed = (fromMs: number | null) =>
  move<Model, Real>(`resumed from ${fromMs}`, (model, real) => {
    real.send({ type: 'destination.resumed', fromMs } as never);
    model.at = 'forwarding';
    model.failures = 0;
    model.doneMs = fromMs ?? model.doneMs;
  });
const back = move<Model, Real>('back', (model, real) => {
  real.send({ type: 'cursor.back', toMs: 2 } as never);
  model.doneMs = Math.min(2, model.doneMs);
});

describe('a SIEM destination', () => {
  itsMachineAgrees(siemDestinationMachine, {
    input: fc.constant({ startMs: 0 }),
    begin: () => ({
      model: { at: 'forwarding', failures: 0, doneMs: 0, sent: 0 } as Model,
      real: drive(siemDestinationMachine, { startMs: 0 }),
    }),
    moves: [
      ...[accepted, accepted, late, failed, failed, failed, failed, stopped, none],
      ...[paused, resumed(null), resumed(1), back],
    ],
    agree(model, real) {
      const { value, context } = real.snapshot();
      expect(value).toBe(model.at);
      expect(context.cursor.receivedAtMs).toBe(model.doneMs);
      expect(context).toMatchObject({ failures: model.failures, sentEvents: model.sent });
      expect(real.nextTimerMs()).toBeNull();
    },
  });
});
