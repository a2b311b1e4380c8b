// The token beside four words and a key: used once, for one key, until its lifetime ends. invariant: I2
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { type Driven, drive, itsMachineAgrees, type Move, move } from './driver.ts';
import { enrollmentTokenMachine } from './machines/enrollment-token.machine.ts';

const CREATED_AT_MS = 1_000;
type Model = {
  at: 'usable' | 'consumed' | 'expired' | 'revoked';
  key: string | null;
  endsAtMs: number;
  told: string[];
};
type Real = Driven<typeof enrollmentTokenMachine>;

// The clock that stamps a presentation may run a little ahead of the one that turns the timer.
const present = fc
  .tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom(0, 0, 0, 40, 'the end'))
  .map(
    ([key, ahead]): Move<Model, Real> => ({
      name: `present(${key}, +${ahead})`,
      run(model, real) {
        const atMs = typeof ahead === 'number' ? real.nowMs() + ahead : model.endsAtMs;
        real.send({ type: 'token.presented', keyDigest: key, atMs } as never);
        if (model.at === 'expired' || model.at === 'revoked') return;
        if (atMs >= model.endsAtMs) model.told.push('token_expired');
        else if (model.key === null) {
          model.at = 'consumed';
          model.key = key;
          model.told.push('identity.granted');
        } else model.told.push(model.key === key ? 'identity.repeated' : 'token_consumed');
      },
    }),
  );
const revoke = move<Model, Real>('revoke', (model, real) => {
  real.send({ type: 'token.revoked', atMs: real.nowMs() } as never);
  if (model.at === 'usable') model.at = 'revoked';
});
const wait = fc.nat(120).map(
  (ms): Move<Model, Real> => ({
    name: `wait(${ms})`,
    run(model, real) {
      real.advance(ms);
      if (model.at === 'usable' && real.nowMs() >= model.endsAtMs) model.at = 'expired';
    },
  }),
);

describe('enrollment token', () => {
  itsMachineAgrees(enrollmentTokenMachine, {
    input: fc.integer({ min: 1, max: 1_000 }),
    begin: (lifetimeMs) => {
      const endsAtMs = CREATED_AT_MS + lifetimeMs;
      const input = { tokenId: 't', createdAtMs: CREATED_AT_MS, expiresAtMs: endsAtMs };
      return {
        model: { at: 'usable', key: null, endsAtMs, told: [] } as Model,
        real: drive(enrollmentTokenMachine, input, CREATED_AT_MS),
      };
    },
    moves: [present, present, present, revoke, wait, wait],
    agree(model, real) {
      const { value, context, status } = real.snapshot();
      expect(value).toBe(model.at);
      expect(context.consumedKeyDigest).toBe(model.key);
      expect(status === 'done').toBe(model.at === 'expired' || model.at === 'revoked');
      const told = real.takeEffects().map(({ params }) => {
        const said = params as { readonly type: string; readonly code?: string };
        return said.code ?? said.type;
      });
      expect(told).toEqual(model.told.splice(0));
    },
  });
});
