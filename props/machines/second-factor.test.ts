// A step of a second factor is accepted once and never an earlier one after it, whatever the order, and wrong codes end
// in a lock that no right code opens. invariant: I18; decision: D39
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterWrongCode,
  formatRecoveryCode,
  isStepAcceptable,
  NO_TRIES,
  needOfLogin,
  readCode,
  stepAt,
  waitOfTries,
} from '../../machines/console/access/second-factor.rules.ts';
import {
  MFA_TRIES_MAX,
  MFA_TRIES_WINDOW_MS,
  RECOVERY_CODE_BYTES,
  RECOVERY_CODES_COUNT,
  TOTP_STEP_MS,
} from '../../machines/limits.ts';
import { ROLES } from '../../machines/trust/roles.rules.ts';
import {
  type SecondFactorEmitted,
  type SecondFactorEvent,
  secondFactorMachine,
} from '../models/machines/second-factor.machine.ts';
import { describeMachineLaws } from './laws.ts';
import { initialTransition, transition } from './moves.ts';

const START_MS = 1_800_000_000_000;
const FIRST = stepAt(START_MS);
const atMs = fc.integer({ min: START_MS, max: START_MS + 10 * TOTP_STEP_MS });
const code = fc.record({
  type: fc.constant('code.presented' as const),
  atMs,
  step: fc.option(fc.integer({ min: FIRST - 3, max: FIRST + 13 }), { freq: 4 }),
});
const right = atMs.map((at) => ({
  type: 'code.presented' as const,
  atMs: at,
  step: stepAt(at),
}));
const recovery = fc.record({
  type: fc.constant('recovery.presented' as const),
  atMs,
  isUnused: fc.boolean(),
});
const events: fc.Arbitrary<SecondFactorEvent> = fc.oneof(
  { weight: 6, arbitrary: code },
  { weight: 3, arbitrary: right },
  { weight: 3, arbitrary: recovery },
  { weight: 2, arbitrary: fc.constant({ type: 'enrollment.begun' as const }) },
  { weight: 1, arbitrary: fc.constant({ type: 'codes.replaced' as const }) },
  { weight: 1, arbitrary: fc.constant({ type: 'factor.removed' as const }) },
);

describeMachineLaws({
  name: 'second-factor',
  machine: secondFactorMachine,
  input: fc.constant(undefined),
  events,
});

type Effect = { readonly type: string; readonly params: { readonly event: SecondFactorEmitted } };

/** Runs events and gives what each one made the machine tell. */
function run(steps: readonly SecondFactorEvent[]) {
  let [snapshot] = initialTransition(secondFactorMachine);
  const told = steps.map((step) => {
    const [next, effects] = transition(secondFactorMachine, snapshot, step);
    snapshot = next;
    const emitted = (effects as readonly unknown[] as readonly Effect[]).filter(
      (one) => one.type === 'xstate.emit',
    );
    expect(emitted.length).toBeLessThanOrEqual(1);
    return emitted[0]?.params.event ?? null;
  });
  return { snapshot, told };
}

const present = (step: number | null, at = START_MS) =>
  ({ type: 'code.presented', atMs: at, step }) as const;
const enrolled = [{ type: 'enrollment.begun' } as const, present(FIRST)];

describe('second factor: machine', () => {
  it('never accepts a step twice, nor an earlier one after a later one', () => {
    fc.assert(
      fc.property(fc.array(events, { maxLength: 60 }), (steps) => {
        let last = 0;
        run(steps).told.forEach((told, at) => {
          const step = steps[at];
          if (step?.type === 'factor.removed') last = 0;
          if (told?.type !== 'factor.accepted' && told?.type !== 'factor.confirmed') return;
          if (step?.type !== 'code.presented') return;
          expect(step.step).toBeGreaterThan(last);
          last = step.step ?? 0;
        });
      }),
    );
  });

  it('never accepts more recovery codes than were made', () => {
    const many = fc.array(fc.oneof(recovery, code), { minLength: 20, maxLength: 60 });
    fc.assert(
      fc.property(many, (steps) => {
        const { told } = run([...enrolled, ...steps]);
        const used = told.filter((one) => one?.type === 'factor.accepted' && one.by === 'recovery');
        expect(used.length).toBeLessThanOrEqual(RECOVERY_CODES_COUNT);
      }),
    );
  });

  it('always locks after the last try, for right codes and recovery codes too', () => {
    const wrong = Array.from({ length: MFA_TRIES_MAX }, () => present(null));
    const { told, snapshot } = run([...enrolled, ...wrong, present(FIRST + 1)]);
    const codes = told.map((one) => (one?.type === 'factor.refused' ? one.code : one?.type));
    expect(codes.slice(2)).toEqual([
      ...Array.from({ length: MFA_TRIES_MAX - 1 }, () => 'mfa_code_invalid'),
      'mfa_locked',
      'mfa_locked',
    ]);
    expect(snapshot.value).toEqual({ on: 'locked' });
    const timer = { type: 'xstate.after.triesWindowMs.second-factor.on.locked' } as const;
    const [open] = transition(secondFactorMachine, snapshot, timer as never);
    expect(open.value).toEqual({ on: 'open' });
    expect(open.context.tries).toEqual(NO_TRIES);
  });

  it('never protects anything before a code of the new secret was shown', () => {
    const { snapshot, told } = run([{ type: 'enrollment.begun' }, present(FIRST + 2)]);
    expect(snapshot.value).toEqual({ pending: 'open' });
    expect(told[1]).toEqual({ type: 'factor.refused', code: 'mfa_code_invalid' });
  });
});

describe('second factor: rules', () => {
  it('always accepts the present step and the one before, and none further away or to come', () => {
    fc.assert(
      fc.property(atMs, fc.integer({ min: -5, max: 5 }), (now, off) => {
        const step = stepAt(now) + off;
        expect(isStepAcceptable({ step, lastStep: 0 }, now)).toBe(off === 0 || off === -1);
        expect(isStepAcceptable({ step, lastStep: step }, now)).toBe(false);
      }),
    );
  });

  it('always lets another code be tried once the window after the last wrong one is over', () => {
    fc.assert(
      fc.property(fc.array(atMs, { minLength: 1, maxLength: 20 }), (at) => {
        const times = [...at].sort((a, b) => a - b);
        const tries = times.reduce(afterWrongCode, NO_TRIES);
        const wait = waitOfTries(tries, tries.lastAtMs);
        expect(wait).toBe(times.length < MFA_TRIES_MAX ? 0 : MFA_TRIES_WINDOW_MS);
        expect(waitOfTries(tries, tries.lastAtMs + MFA_TRIES_WINDOW_MS)).toBe(0);
        // A clock that went back does not lock for longer.
        expect(waitOfTries(tries, START_MS - 1e12)).toBeLessThanOrEqual(MFA_TRIES_WINDOW_MS);
        const later = afterWrongCode(tries, tries.lastAtMs + MFA_TRIES_WINDOW_MS);
        expect(later.failures).toBe(1);
      }),
    );
  });

  it('always reads a recovery code as it was shown, in any spelling, and never two bytes alike', () => {
    const bytes = fc.uint8Array({
      minLength: RECOVERY_CODE_BYTES,
      maxLength: RECOVERY_CODE_BYTES,
    });
    fc.assert(
      fc.property(bytes, bytes, (random, other) => {
        const shown = formatRecoveryCode(random);
        expect(shown).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){5}[0-9a-hjkmnp-tv-z]{4}$/);
        const read = readCode(shown);
        expect(read).toEqual({ kind: 'recovery', code: shown.replaceAll('-', '') });
        const spoken = ` ${shown.toUpperCase().replaceAll('-', ' ').replaceAll('0', 'O')}\n`;
        expect(readCode(spoken)).toEqual(read);
        expect(readCode(spoken.replaceAll('1', 'l'))).toEqual(read);
        // Codes that were given out when they were shorter.
        const old = shown.slice(0, 19);
        expect(readCode(old)).toEqual({ kind: 'recovery', code: old.replaceAll('-', '') });
        expect(readCode(shown.slice(0, 24))).toBeNull();
        const isSame = Buffer.from(random).equals(Buffer.from(other));
        expect(formatRecoveryCode(other) === shown).toBe(isSame);
      }),
    );
    expect(() => formatRecoveryCode(new Uint8Array(3))).toThrow('bytes');
  });

  it('never takes for a code what is none', () => {
    expect(readCode('123 456')).toEqual({ kind: 'totp', code: '123456' });
    for (const text of ['', '12345', '1234567', '12345a', '１２３４５６', 'u'.repeat(16)]) {
      expect(readCode(text)).toBeNull();
    }
  });

  it('always demands what is on, and of a role that needs one to set it up', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ROLES),
        fc.subarray([...ROLES]),
        fc.constantFrom('off' as const, 'pending' as const, 'on' as const),
        (role, requiredRoles, state) => {
          const login = { role, requiredRoles, state };
          const need = needOfLogin({ ...login, method: 'password' });
          if (state === 'on') expect(need).toBe('totp');
          else expect(need).toBe(requiredRoles.includes(role) ? 'totp_enrollment' : null);
          expect(needOfLogin({ ...login, method: 'sso:p+mfa' })).toBeNull();
          const through = needOfLogin({ ...login, method: 'sso:p' });
          expect(through).toBe(login.requiredRoles.includes(login.role) ? need : null);
        },
      ),
    );
  });
});
