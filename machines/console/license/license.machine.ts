// The life of the license this Console runs under. Dates decide; time is the largest that was ever seen, and between two
// looks at the clock it is the time that passed on the monotonic wheel, so setting the clock back stops nothing.
//   judging  transient: the dates decide at once
//   absent   no license was imported: no limit
//   pending  before valid_from: no limit
//   valid    no limit
//   grace    past valid_until: no limit, operators are warned
//   expired  past grace_until: new nodes above the number of the license are refused, nothing else changes
// invariant: I8, I16; decision: D32, D33
import { type ActorRefFrom, assign, type SnapshotFrom, setup } from 'xstate';
import { checkDelayMs, type LicenseFacts, phaseOfLicense } from '../../trust/license.rules.ts';

export type LicenseContext = {
  readonly license: LicenseFacts | null;
  /** The largest time seen. */
  readonly seenMs: number;
};
export type LicenseEvent =
  /**
   * `seenMs` may lie before the largest time seen: a license that was issued later proves the time anew. None: the
   * database went back to before the first one.
   */
  | { type: 'license.imported'; license: LicenseFacts | null; seenMs: number }
  | { type: 'time.seen'; atMs: number };
export type LicenseInput = { readonly license: LicenseFacts | null; readonly seenMs: number };

export const licenseMachine = setup({
  types: {
    context: {} as LicenseContext,
    events: {} as LicenseEvent,
    input: {} as LicenseInput,
    tags: {} as 'limits-enrollment',
  },
  delays: {
    checkMs: ({ context }) => checkDelayMs(context.license, context.seenMs),
  },
  guards: {
    isAbsent: ({ context }) => context.license === null,
    isPending: ({ context }) => phaseOfLicense(context.license, context.seenMs) === 'pending',
    isValid: ({ context }) => phaseOfLicense(context.license, context.seenMs) === 'valid',
    isInGrace: ({ context }) => phaseOfLicense(context.license, context.seenMs) === 'grace',
    isLater: ({ context }, params: { atMs: number }) => params.atMs > context.seenMs,
  },
  actions: {
    takeLicense: assign((_, params: { license: LicenseFacts | null; seenMs: number }) => ({
      license: params.license,
      seenMs: params.seenMs,
    })),
    noteTime: assign({ seenMs: (_, params: { atMs: number }) => params.atMs }),
    // The delay that has just passed: nothing it is made of has changed since it was armed.
    passTime: assign({
      seenMs: ({ context }) => context.seenMs + checkDelayMs(context.license, context.seenMs),
    }),
  },
}).createMachine({
  id: 'license',
  context: ({ input }) => ({ license: input.license, seenMs: input.seenMs }),
  initial: 'judging',
  on: {
    'license.imported': {
      target: '.judging',
      actions: { type: 'takeLicense', params: ({ event }) => event },
    },
    'time.seen': {
      guard: { type: 'isLater', params: ({ event }) => event },
      target: '.judging',
      actions: { type: 'noteTime', params: ({ event }) => event },
    },
  },
  states: {
    judging: {
      description: 'Transient: the dates decide at once.',
      always: [
        { guard: 'isAbsent', target: 'absent' },
        { guard: 'isPending', target: 'pending' },
        { guard: 'isValid', target: 'valid' },
        { guard: 'isInGrace', target: 'grace' },
        { target: 'expired' },
      ],
    },
    absent: { description: 'No license was imported: enrollment has no limit.' },
    pending: {
      description: 'Before valid_from: enrollment has no limit.',
      after: { checkMs: { target: 'judging', actions: 'passTime' } },
    },
    valid: {
      description: 'Enrollment has no limit.',
      after: { checkMs: { target: 'judging', actions: 'passTime' } },
    },
    grace: {
      description: 'Past valid_until: everything works, operators are warned.',
      after: { checkMs: { target: 'judging', actions: 'passTime' } },
    },
    expired: {
      tags: 'limits-enrollment',
      description: 'Past grace_until: new nodes above the number of the license are refused.',
    },
  },
});
export type LicenseActorRef = ActorRefFrom<typeof licenseMachine>;
export type LicenseSnapshot = SnapshotFrom<typeof licenseMachine>;
