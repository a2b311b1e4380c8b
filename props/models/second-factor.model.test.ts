// The second factor beside a set of steps, a heap of codes and a count. invariant: I18; decision: D39
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import {
  MFA_TRIES_MAX,
  MFA_TRIES_WINDOW_MS,
  RECOVERY_CODES_COUNT,
  TOTP_STEP_MS,
} from '../../machines/limits.ts';
import { type Driven, drive, itsMachineAgrees, type Move, move } from './driver.ts';
import { secondFactorMachine } from './machines/second-factor.machine.ts';

const START_MS = 1_800_000_000_000;
type Model = {
  at: 'off' | 'pending' | 'on';
  used: number[];
  codes: number;
  /** When the wrong codes came that count together. */
  wrongAtMs: number[];
  lockedUntilMs: number | null;
  told: string[];
};
type Real = Driven<typeof secondFactorMachine>;

function forget(model: Model): void {
  model.wrongAtMs = [];
  model.lockedUntilMs = null;
}

function wrong(model: Model, nowMs: number): void {
  const last = model.wrongAtMs.at(-1);
  if (last !== undefined && nowMs - last >= MFA_TRIES_WINDOW_MS) model.wrongAtMs = [];
  model.wrongAtMs.push(nowMs);
  if (model.wrongAtMs.length < MFA_TRIES_MAX) model.told.push('mfa_code_invalid');
  else {
    model.lockedUntilMs = nowMs + MFA_TRIES_WINDOW_MS;
    model.told.push('mfa_locked');
  }
}

// Steps near now, as if the code of each were known; `wild` is the code of none.
const show = fc.constantFrom<number | 'wild'>(-2, -1, -1, 0, 0, 0, 0, 1, 2, 'wild', 'wild').map(
  (off): Move<Model, Real> => ({
    name: `show(${off})`,
    run(model, real) {
      const nowMs = real.nowMs();
      const step = off === 'wild' ? null : Math.floor(nowMs / TOTP_STEP_MS) + off;
      real.send({ type: 'code.presented', atMs: nowMs, step } as never);
      if (model.at === 'off') model.told.push('mfa_state_conflict');
      else if (model.lockedUntilMs !== null) model.told.push('mfa_locked');
      else if (
        step === null ||
        ![0, -1].includes(Number(off)) ||
        model.used.some((one) => one >= step)
      )
        wrong(model, nowMs);
      else {
        model.used.push(step);
        forget(model);
        if (model.at === 'pending') model.codes = RECOVERY_CODES_COUNT;
        model.told.push(model.at === 'pending' ? 'factor.confirmed' : 'factor.accepted');
        model.at = 'on';
      }
    },
  }),
);
// Somebody who guesses on, in whatever state.
const guessOn = move<Model, Real>('guess on', (model, real) => {
  for (let guess = 0; guess < MFA_TRIES_MAX; guess += 1) {
    real.send({ type: 'code.presented', atMs: real.nowMs(), step: null } as never);
    if (model.at === 'off') model.told.push('mfa_state_conflict');
    else if (model.lockedUntilMs !== null) model.told.push('mfa_locked');
    else wrong(model, real.nowMs());
  }
});
const recover = fc.boolean().map(
  (isUnused): Move<Model, Real> => ({
    name: `recover(${isUnused})`,
    run(model, real) {
      real.send({ type: 'recovery.presented', atMs: real.nowMs(), isUnused } as never);
      if (model.at !== 'on') model.told.push('mfa_state_conflict');
      else if (model.lockedUntilMs !== null) model.told.push('mfa_locked');
      else if (!isUnused || model.codes === 0) wrong(model, real.nowMs());
      else {
        model.codes -= 1;
        forget(model);
        model.told.push('factor.accepted');
      }
    },
  }),
);
const begin = move<Model, Real>('begin', (model, real) => {
  real.send({ type: 'enrollment.begun' } as never);
  if (model.at === 'on') model.told.push('mfa_state_conflict');
  else model.at = 'pending';
});
const replace = move<Model, Real>('replace', (model, real) => {
  real.send({ type: 'codes.replaced' } as never);
  if (model.at !== 'on') model.told.push('mfa_state_conflict');
  else if (model.lockedUntilMs !== null) model.told.push('mfa_locked');
  else model.codes = RECOVERY_CODES_COUNT;
});
const remove = move<Model, Real>('remove', (model, real) => {
  real.send({ type: 'factor.removed' } as never);
  if (model.at === 'off') model.told.push('mfa_state_conflict');
  Object.assign(model, { at: 'off', used: [], codes: 0 });
  forget(model);
});
const wait = fc
  .constantFrom(1_000, TOTP_STEP_MS, TOTP_STEP_MS, MFA_TRIES_WINDOW_MS - 1, MFA_TRIES_WINDOW_MS)
  .map(
    (ms): Move<Model, Real> => ({
      name: `wait(${ms})`,
      run(model, real) {
        real.advance(ms);
        if (model.lockedUntilMs !== null && real.nowMs() >= model.lockedUntilMs) forget(model);
      },
    }),
  );

describe('second factor', () => {
  itsMachineAgrees(secondFactorMachine, {
    input: fc.constant(undefined),
    begin: () => ({
      model: {
        ...{ at: 'off', used: [], codes: 0, wrongAtMs: [], lockedUntilMs: null, told: [] },
      } as Model,
      real: drive(secondFactorMachine, undefined, START_MS),
    }),
    moves: [show, show, show, guessOn, recover, recover, begin, begin, replace, remove, wait],
    agree(model, real) {
      const { value, context } = real.snapshot();
      const inside = model.lockedUntilMs === null ? 'open' : 'locked';
      expect(value).toEqual(model.at === 'off' ? 'off' : { [model.at]: inside });
      expect(context.codesLeft).toBe(model.codes);
      expect(real.nextTimerMs()).toBe(
        model.lockedUntilMs === null ? null : model.lockedUntilMs - real.nowMs(),
      );
      const told = real.takeEffects().map(({ params }) => {
        const said = params as { readonly type: string; readonly code?: string };
        return said.code ?? said.type;
      });
      expect(told).toEqual(model.told.splice(0));
    },
  });
});
