// The second factor of one person. A step is accepted once and never an earlier one after it; wrong codes are limited in
// every state that looks at codes; a lock ends by time or by whoever takes the factor away. decision: D39; invariant: I18
//   off             no secret; a role may demand one at the next login
//   pending.open    a secret was shown and no code has confirmed it; it protects nothing yet
//   pending.locked  too many wrong confirmations; no code is looked at until the time is over
//   on.open         every login shows a code of the app or a recovery code
//   on.locked       too many wrong codes; none is looked at until the time is over, not even a right one
import { type ActorRefFrom, assign, emit, type SnapshotFrom, setup } from 'xstate';
import {
  afterWrongCode,
  isStepAcceptable,
  NO_TRIES,
  type Tries,
  waitOfTries,
} from '../../../machines/console/access/second-factor.rules.ts';
import type { ErrorCode } from '../../../machines/errors.ts';
import { MFA_TRIES_WINDOW_MS, RECOVERY_CODES_COUNT } from '../../../machines/limits.ts';

export type SecondFactorContext = {
  /** The last step whose code was accepted; 0 before the first. */
  readonly lastStep: number;
  readonly codesLeft: number;
  readonly tries: Tries;
};
/** `step`: the step whose code it is; null when it is the code of none that is near. */
type CodePresented = { type: 'code.presented'; atMs: number; step: number | null };
type RecoveryPresented = { type: 'recovery.presented'; atMs: number; isUnused: boolean };
export type SecondFactorEvent =
  | { type: 'enrollment.begun' }
  | CodePresented
  | RecoveryPresented
  | { type: 'codes.replaced' }
  | { type: 'factor.removed' };
export type SecondFactorEmitted =
  | { type: 'factor.confirmed'; step: number }
  | { type: 'factor.accepted'; by: 'totp' | 'recovery' }
  | { type: 'factor.refused'; code: FactorRefusal };
type FactorRefusal = Extract<ErrorCode, 'mfa_code_invalid' | 'mfa_locked' | 'mfa_state_conflict'>;
type Shown = { readonly atMs: number; readonly step: number | null };

const LOCKED = { type: 'tellRefused', params: { code: 'mfa_locked' } } as const;
const WRONG = { type: 'tellRefused', params: { code: 'mfa_code_invalid' } } as const;
const CONFLICT = { type: 'tellRefused', params: { code: 'mfa_state_conflict' } } as const;
const at = ({ event }: { readonly event: { readonly atMs: number } }) => ({ atMs: event.atMs });
const shown = ({ event }: { readonly event: CodePresented }): Shown => ({
  atMs: event.atMs,
  step: event.step,
});

const secondFactor = setup({
  types: {
    context: {} as SecondFactorContext,
    events: {} as SecondFactorEvent,
    emitted: {} as SecondFactorEmitted,
  },
  delays: { triesWindowMs: MFA_TRIES_WINDOW_MS },
  guards: {
    isAcceptable: ({ context }, { atMs, step }: Shown) =>
      step !== null && isStepAcceptable({ step, lastStep: context.lastStep }, atMs),
    isUnusedCode: ({ context }, params: { isUnused: boolean }) =>
      params.isUnused && context.codesLeft > 0,
    isLastTry: ({ context }, { atMs }: { atMs: number }) =>
      waitOfTries(afterWrongCode(context.tries, atMs), atMs) > 0,
  },
  actions: {
    rememberStep: assign({
      lastStep: ({ context }, { step }: Shown) => Math.max(context.lastStep, step ?? 0),
    }),
    useRecoveryCode: assign({ codesLeft: ({ context }) => context.codesLeft - 1 }),
    fillRecoveryCodes: assign({ codesLeft: RECOVERY_CODES_COUNT }),
    countWrong: assign({
      tries: ({ context }, { atMs }: { atMs: number }) => afterWrongCode(context.tries, atMs),
    }),
    forgetTries: assign({ tries: NO_TRIES }),
    forgetFactor: assign({ lastStep: 0, codesLeft: 0, tries: NO_TRIES }),
    tellConfirmed: emit((_, { step }: Shown) => ({
      type: 'factor.confirmed' as const,
      step: step ?? 0,
    })),
    tellAccepted: emit((_, params: { by: 'totp' | 'recovery' }) => ({
      type: 'factor.accepted' as const,
      by: params.by,
    })),
    tellRefused: emit((_, params: { code: FactorRefusal }) => ({
      type: 'factor.refused' as const,
      code: params.code,
    })),
  },
});

const pending = secondFactor.createStateConfig({
  description: 'A secret was shown; the first code of it turns the factor on.',
  initial: 'open',
  on: {
    // Another secret takes the place of the one before; the count of wrong codes stays.
    'enrollment.begun': {},
    'recovery.presented': { actions: CONFLICT },
    'codes.replaced': { actions: CONFLICT },
    'factor.removed': { target: 'off', actions: 'forgetFactor' },
  },
  states: {
    open: {
      description: 'A code is looked at.',
      on: {
        'code.presented': [
          {
            guard: { type: 'isAcceptable', params: shown },
            target: '#second-factor.on',
            actions: [
              { type: 'rememberStep', params: shown },
              'fillRecoveryCodes',
              'forgetTries',
              { type: 'tellConfirmed', params: shown },
            ],
          },
          {
            guard: { type: 'isLastTry', params: at },
            target: 'locked',
            actions: [{ type: 'countWrong', params: at }, LOCKED],
          },
          { actions: [{ type: 'countWrong', params: at }, WRONG] },
        ],
      },
    },
    locked: {
      description: 'Too many wrong confirmations.',
      after: { triesWindowMs: { target: 'open', actions: 'forgetTries' } },
      on: { 'code.presented': { actions: LOCKED } },
    },
  },
});

const on = secondFactor.createStateConfig({
  description: 'Every login shows it.',
  initial: 'open',
  on: {
    'enrollment.begun': { actions: CONFLICT },
    'factor.removed': { target: 'off', actions: 'forgetFactor' },
  },
  states: {
    open: {
      description: 'A code is looked at.',
      on: {
        'code.presented': [
          {
            guard: { type: 'isAcceptable', params: shown },
            actions: [
              { type: 'rememberStep', params: shown },
              'forgetTries',
              { type: 'tellAccepted', params: { by: 'totp' } },
            ],
          },
          {
            guard: { type: 'isLastTry', params: at },
            target: 'locked',
            actions: [{ type: 'countWrong', params: at }, LOCKED],
          },
          { actions: [{ type: 'countWrong', params: at }, WRONG] },
        ],
        'recovery.presented': [
          {
            guard: { type: 'isUnusedCode', params: ({ event }) => ({ isUnused: event.isUnused }) },
            actions: [
              'useRecoveryCode',
              'forgetTries',
              { type: 'tellAccepted', params: { by: 'recovery' } },
            ],
          },
          {
            guard: { type: 'isLastTry', params: at },
            target: 'locked',
            actions: [{ type: 'countWrong', params: at }, LOCKED],
          },
          { actions: [{ type: 'countWrong', params: at }, WRONG] },
        ],
        'codes.replaced': { actions: 'fillRecoveryCodes' },
      },
    },
    locked: {
      description: 'Too many wrong codes; the partial session has ended.',
      after: { triesWindowMs: { target: 'open', actions: 'forgetTries' } },
      on: {
        'code.presented': { actions: LOCKED },
        'recovery.presented': { actions: LOCKED },
        'codes.replaced': { actions: LOCKED },
      },
    },
  },
});

export const secondFactorMachine = secondFactor.createMachine({
  id: 'second-factor',
  context: { lastStep: 0, codesLeft: 0, tries: NO_TRIES },
  initial: 'off',
  states: {
    off: {
      description: 'No secret is known.',
      on: {
        'enrollment.begun': 'pending',
        'code.presented': { actions: CONFLICT },
        'recovery.presented': { actions: CONFLICT },
        'codes.replaced': { actions: CONFLICT },
        'factor.removed': { actions: CONFLICT },
      },
    },
    pending,
    on,
  },
});
export type SecondFactorActorRef = ActorRefFrom<typeof secondFactorMachine>;
export type SecondFactorSnapshot = SnapshotFrom<typeof secondFactorMachine>;
