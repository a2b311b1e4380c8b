// The renewal of the client certificate. Dates are wall-clock dates: they are looked at when a timer of the monotonic
// clock fires, and again when the wall clock jumps. invariant: I4, I13
//   looking       the wall clock is read
//   deciding      renew, forget the previous pair, or sleep
//   sleeping      until the window opens, the overlap ends, or a day has passed
//   resting       just renewed and yet inside the window: a clock or a lifetime is odd, and the Console is spared
//   renewing      a CSR with the kept new key is out; a lost answer is asked for again with the same key
//   trying        the first request with the new certificate, which makes it the current one
//   falling_back  the Console does not know the new certificate: the previous pair is put back
//   retrying      a try failed; its backoff runs, then it is done again
//   retesting     the Console was not reached with the new certificate; its backoff runs
import { type ActorRefFrom, assign, type SnapshotFrom, setup } from 'xstate';
import { unprovided, unprovidedActor } from '../unprovided.ts';
import { backoffMs, obeyRetryAfter } from './backoff.rules.ts';
import {
  isOverlapOver,
  isRenewalTime,
  nextLookMs,
  type RenewalDates,
  type RenewalOutcome,
  type TrialOutcome,
} from './renewal.rules.ts';

export type RenewalInput = RenewalDates & {
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
  readonly seed: number;
};
type RenewalContext = RenewalInput & {
  readonly nowMs: number;
  readonly failures: number;
  readonly retryAfterMs: number | null;
  readonly isFresh: boolean;
};
type RenewalEvent = { readonly type: 'renewal.requested' } | { readonly type: 'clock.jumped' };

export const renewalMachine = setup({
  types: {
    context: {} as RenewalContext,
    events: {} as RenewalEvent,
    input: {} as RenewalInput,
    tags: {} as 'renewing',
  },
  delays: {
    restMs: ({ context }) => context.retryMaxMs,
    nextLookMs: ({ context }) => nextLookMs(context, context.nowMs),
    retryDelayMs: ({ context }) =>
      obeyRetryAfter(
        backoffMs({ ...context, minMs: context.retryMinMs, maxMs: context.retryMaxMs }),
        context.retryAfterMs,
        context.retryMaxMs,
      ),
  },
  actors: {
    readClock: unprovidedActor<number>('readClock'),
    renewCertificate: unprovidedActor<RenewalOutcome>('renewCertificate'),
    tryCertificate: unprovidedActor<TrialOutcome>('tryCertificate'),
    fallBack: unprovidedActor<{ readonly notAfterMs: number }>('fallBack'),
  },
  actions: {
    noteNow: assign((_, params: { nowMs: number }) => ({ nowMs: params.nowMs })),
    noteRenewed: assign((_, params: { outcome: RenewalOutcome }) =>
      params.outcome.kind === 'renewed'
        ? { notAfterMs: params.outcome.notAfterMs, overlapEndsMs: params.outcome.overlapEndsMs }
        : {},
    ),
    noteFailure: assign(({ context }, params: { retryAfterMs: number | null }) => ({
      failures: context.failures + 1,
      retryAfterMs: params.retryAfterMs,
    })),
    noteInstalled: assign((_, params: { notAfterMs: number }) => ({
      notAfterMs: params.notAfterMs,
      overlapEndsMs: null,
      failures: 0,
    })),
    forgetFailures: assign({ failures: 0, retryAfterMs: null }),
    noteFresh: assign({ isFresh: true }),
    forgetFresh: assign({ isFresh: false }),
    forgetOverlap: assign({ overlapEndsMs: null }),
    forgetPrevious: unprovided('forgetPrevious'),
    tellRenewing: unprovided('tellRenewing'),
    tellRenewed: unprovided('tellRenewed'),
    tellFailed: unprovided<{ reason: string }>('tellFailed'),
  },
  guards: {
    isRenewalTime: ({ context }) => isRenewalTime(context, context.nowMs),
    isFreshAndDue: ({ context }) => context.isFresh && isRenewalTime(context, context.nowMs),
    isOverlapOver: ({ context }) => isOverlapOver(context, context.nowMs),
    isRenewed: (_, params: { outcome: RenewalOutcome }) => params.outcome?.kind === 'renewed',
    isAccepted: (_, params: { outcome: TrialOutcome }) => params.outcome === 'accepted',
    isRejected: (_, params: { outcome: TrialOutcome }) => params.outcome === 'rejected',
  },
}).createMachine({
  id: 'renewal',
  context: ({ input }) => ({ ...input, nowMs: 0, failures: 0, retryAfterMs: null, isFresh: false }),
  initial: 'looking',
  states: {
    looking: {
      description: 'The wall clock is read.',
      invoke: {
        id: 'readClock',
        src: 'readClock',
        onDone: {
          target: 'deciding',
          actions: { type: 'noteNow', params: ({ event }) => ({ nowMs: event.output ?? 0 }) },
        },
        onError: 'sleeping',
      },
    },
    deciding: {
      description: 'Renew, forget the previous pair, or sleep.',
      always: [
        {
          guard: 'isOverlapOver',
          target: 'deciding',
          reenter: true,
          actions: ['forgetPrevious', 'forgetOverlap'],
        },
        { guard: 'isFreshAndDue', target: 'resting' },
        { guard: 'isRenewalTime', target: 'renewing' },
        { target: 'sleeping' },
      ],
    },
    resting: {
      description: 'Just renewed and yet inside the window.',
      entry: 'forgetFresh',
      on: { 'clock.jumped': 'looking' },
      after: { restMs: 'looking' },
    },
    sleeping: {
      description: 'Nothing to do yet.',
      entry: 'forgetFresh',
      on: { 'renewal.requested': 'renewing', 'clock.jumped': 'looking' },
      after: { nextLookMs: 'looking' },
    },
    renewing: {
      description: 'A CSR with the kept new key is out.',
      tags: 'renewing',
      entry: 'tellRenewing',
      invoke: {
        id: 'renewCertificate',
        src: 'renewCertificate',
        onDone: [
          {
            guard: { type: 'isRenewed', params: ({ event }) => ({ outcome: event.output }) },
            target: 'trying',
            actions: { type: 'noteRenewed', params: ({ event }) => ({ outcome: event.output }) },
          },
          {
            target: 'retrying',
            actions: [
              {
                type: 'noteFailure',
                params: ({ event }) => ({ retryAfterMs: retryAfterOf(event.output) }),
              },
              { type: 'tellFailed', params: ({ event }) => ({ reason: reasonOf(event.output) }) },
            ],
          },
        ],
        onError: {
          target: 'retrying',
          actions: [
            { type: 'noteFailure', params: { retryAfterMs: null } },
            { type: 'tellFailed', params: ({ event }) => ({ reason: String(event.error) }) },
          ],
        },
      },
    },
    trying: {
      description: 'The first request with the new certificate.',
      tags: 'renewing',
      invoke: {
        id: 'tryCertificate',
        src: 'tryCertificate',
        onDone: [
          {
            guard: { type: 'isAccepted', params: ({ event }) => ({ outcome: event.output }) },
            target: 'looking',
            actions: ['forgetFailures', 'noteFresh', 'tellRenewed'],
          },
          {
            guard: { type: 'isRejected', params: ({ event }) => ({ outcome: event.output }) },
            target: 'falling_back',
          },
          {
            target: 'retesting',
            actions: { type: 'noteFailure', params: { retryAfterMs: null } },
          },
        ],
        onError: {
          target: 'retesting',
          actions: { type: 'noteFailure', params: { retryAfterMs: null } },
        },
      },
    },
    falling_back: {
      description: 'The previous pair is put back.',
      tags: 'renewing',
      invoke: {
        id: 'fallBack',
        src: 'fallBack',
        onDone: {
          target: 'retrying',
          actions: [
            {
              type: 'noteInstalled',
              params: ({ event }) => ({ notAfterMs: event.output?.notAfterMs ?? 0 }),
            },
            { type: 'noteFailure', params: { retryAfterMs: null } },
            { type: 'tellFailed', params: { reason: 'the new certificate was not accepted' } },
          ],
        },
        onError: {
          target: 'retrying',
          actions: [
            { type: 'noteFailure', params: { retryAfterMs: null } },
            { type: 'tellFailed', params: ({ event }) => ({ reason: String(event.error) }) },
          ],
        },
      },
    },
    retrying: {
      description: 'A try failed; its backoff runs.',
      after: { retryDelayMs: 'renewing' },
    },
    retesting: {
      description: 'The Console was not reached with the new certificate.',
      after: { retryDelayMs: 'trying' },
    },
  },
});

function retryAfterOf(outcome: RenewalOutcome | undefined): number | null {
  return outcome?.kind === 'failed' ? outcome.retryAfterMs : null;
}
function reasonOf(outcome: RenewalOutcome | undefined): string {
  return outcome?.kind === 'failed' ? outcome.reason : 'no answer';
}

export type RenewalActorRef = ActorRefFrom<typeof renewalMachine>;
export type RenewalSnapshot = SnapshotFrom<typeof renewalMachine>;
