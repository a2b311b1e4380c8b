// The session beside a few numbers: when it was last used, when it ends, and whether somebody ended it. invariant: I18
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { SESSION_PARTIAL_MS } from '../../machines/limits.ts';
import { type Driven, drive, itsMachineAgrees, type Move, move } from './driver.ts';
import { sessionMachine } from './machines/session.machine.ts';

const START_MS = 1_000;
type Model = {
  at: 'partial' | 'full' | 'idle_expired' | 'expired' | 'ended';
  seenAtMs: number;
  endsAtMs: number;
  secrets: number;
  readonly idleMs: number;
  readonly lifetimeMs: number;
};
type Real = Driven<typeof sessionMachine>;
const isAlive = (model: Model) => model.at === 'partial' || model.at === 'full';

const use = move<Model, Real>('use', (model, real) => {
  real.send({ type: 'session.used', atMs: real.nowMs() } as never);
  if (isAlive(model)) model.seenAtMs = real.nowMs();
});
const end = move<Model, Real>('end', (model, real) => {
  real.send({ type: 'session.ended' } as never);
  if (isAlive(model)) model.at = 'ended';
});
const renew = (name: 'factor.shown' | 'password.changed', from: 'partial' | 'full') =>
  move<Model, Real>(name, (model, real) => {
    real.send({ type: name, atMs: real.nowMs() } as never);
    if (model.at !== from) return;
    model.at = 'full';
    model.secrets += 1;
    model.seenAtMs = real.nowMs();
    model.endsAtMs = real.nowMs() + model.lifetimeMs;
  });
const wait = fc.nat(900_000).map(
  (ms): Move<Model, Real> => ({
    name: `wait(${ms})`,
    run(model, real) {
      real.advance(ms);
      if (!isAlive(model)) return;
      const idleAtMs = model.seenAtMs + model.idleMs;
      if (real.nowMs() < Math.min(idleAtMs, model.endsAtMs)) return;
      model.at = idleAtMs <= model.endsAtMs ? 'idle_expired' : 'expired';
    },
  }),
);

describe('session', () => {
  itsMachineAgrees(sessionMachine, {
    input: fc.record({
      stage: fc.constantFrom('partial' as const, 'full' as const),
      idleMs: fc.integer({ min: 1_000, max: 1_800_000 }),
      more: fc.nat(3_600_000),
    }),
    begin: ({ stage, idleMs, more }) => {
      const lifetimeMs = idleMs + more;
      const partialMs = Math.min(SESSION_PARTIAL_MS, lifetimeMs);
      const model: Model = {
        ...{ at: stage, seenAtMs: START_MS, secrets: 1, idleMs, lifetimeMs },
        endsAtMs: START_MS + (stage === 'partial' ? partialMs : lifetimeMs),
      };
      const input = { stage, atMs: START_MS, idleMs, lifetimeMs };
      return { model, real: drive(sessionMachine, input, START_MS) };
    },
    moves: [
      use,
      use,
      end,
      renew('factor.shown', 'partial'),
      renew('password.changed', 'full'),
      wait,
      wait,
      wait,
    ],
    agree(model, real) {
      const { value, context, status } = real.snapshot();
      expect(typeof value === 'string' ? value : value.alive).toBe(model.at);
      expect(context.secrets).toBe(model.secrets);
      expect(status === 'done').toBe(!isAlive(model));
    },
  });
});
