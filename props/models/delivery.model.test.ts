// A delivery beside a small model: where it is, how often it was tried, and until when it is tried. decision: D101
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { deliveryMachine } from '../../machines/console/delivery/delivery.machine.ts';
import { DELIVERY_GIVE_UP_MS } from '../../machines/limits.ts';
import { type Driven, drive, itsMachineAgrees, move } from './driver.ts';

const STEP_MS = 6 * 3_600_000;
type At = 'waiting' | 'sending' | 'delivered' | 'folded' | 'dead';
type Model = { at: At; nowMs: number; attempts: number; untilMs: number };
type Real = Driven<typeof deliveryMachine>;

const claimed = move<Model, Real>('claimed', (model, real) => {
  model.nowMs += STEP_MS;
  real.send({ type: 'delivery.claimed', atMs: model.nowMs } as never);
  if (model.at !== 'waiting') return;
  model.at = 'sending';
  model.attempts += 1;
});
const answered = (status: number) =>
  move<Model, Real>(`answered ${status}`, (model, real) => {
    const outcome = { kind: 'answered', status, retryAfterMs: null };
    real.send({ type: 'attempt.ended', atMs: model.nowMs, outcome, chance: 0.5 } as never);
    if (model.at !== 'sending') return;
    if (status === 200) model.at = 'delivered';
    else model.at = status === 400 || model.nowMs >= model.untilMs ? 'dead' : 'waiting';
  });
const lost = move<Model, Real>('lost', (model, real) => {
  real.send({ type: 'attempt.lost', atMs: model.nowMs } as never);
  if (model.at === 'sending') model.at = 'waiting';
});
const put = (type: string, at: At) =>
  move<Model, Real>(type, (model, real) => {
    real.send({ type, atMs: model.nowMs, into: 'other' } as never);
    if (model.at === 'waiting') model.at = at;
  });
const recovered = move<Model, Real>('recovered', (model, real) =>
  real.send({ type: 'destination.recovered', atMs: model.nowMs } as never),
);
const replayed = move<Model, Real>('replayed', (model, real) => {
  real.send({ type: 'delivery.replayed', atMs: model.nowMs } as never);
  if (model.at !== 'delivered' && model.at !== 'dead') return;
  model.at = 'waiting';
  model.untilMs = model.nowMs + DELIVERY_GIVE_UP_MS;
});

describe('a delivery', () => {
  itsMachineAgrees(deliveryMachine, {
    input: fc.constant({ nowMs: 0 }),
    begin: () => ({
      model: { at: 'waiting', nowMs: 0, attempts: 0, untilMs: DELIVERY_GIVE_UP_MS } as Model,
      real: drive(deliveryMachine, { nowMs: 0 }),
    }),
    moves: [
      ...[claimed, claimed, answered(503), answered(200), answered(400), lost],
      ...[put('delivery.folded', 'folded'), put('delivery.dropped', 'dead'), recovered, replayed],
    ],
    agree(model, real) {
      const { value, context } = real.snapshot();
      expect(value).toBe(model.at);
      expect(context.attempts).toBe(model.attempts);
      expect(context.giveUpAtMs).toBe(model.untilMs);
      expect(real.nextTimerMs()).toBeNull();
    },
  });
});
