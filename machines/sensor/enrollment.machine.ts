// One enrollment or re-enrollment: the token and a CSR go out until the Console answers for good. The key is made once
// and kept, so a repeated request gets the same certificate again. invariant: I2
//   requesting  the request is on its way
//   waiting     no final answer; the next try waits its backoff, or longer when the Console says so
//   enrolled    the certificate is installed (final)
//   refused     a refusal that no repetition changes; a person has to act (final)
import { type ActorRefFrom, assign, type SnapshotFrom, setup } from 'xstate';
import { RETRY_AFTER_MAX_MS } from '../limits.ts';
import { unprovided, unprovidedActor } from '../unprovided.ts';
import { backoffMs, obeyRetryAfter } from './backoff.rules.ts';
import type { EnrollmentAttempt } from './enrollment.rules.ts';

export type EnrollmentInput = {
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
  readonly seed: number;
};
type EnrollmentContext = EnrollmentInput & {
  readonly failures: number;
  readonly retryAfterMs: number | null;
  readonly reason: string | null;
  readonly outcome: EnrollmentAttempt | null;
};
type Failure = { readonly reason: string; readonly retryAfterMs: number | null };

export const enrollmentMachine = setup({
  types: {
    context: {} as EnrollmentContext,
    input: {} as EnrollmentInput,
    output: {} as EnrollmentAttempt,
  },
  delays: {
    retryDelayMs: ({ context }) =>
      obeyRetryAfter(
        backoffMs({ ...context, minMs: context.retryMinMs, maxMs: context.retryMaxMs }),
        context.retryAfterMs,
        RETRY_AFTER_MAX_MS,
      ),
  },
  actors: { requestEnrollment: unprovidedActor<EnrollmentAttempt>('requestEnrollment') },
  actions: {
    noteFailure: assign(({ context }, params: Failure) => ({
      failures: context.failures + 1,
      reason: params.reason,
      retryAfterMs: params.retryAfterMs,
    })),
    noteOutcome: assign((_, params: { outcome: EnrollmentAttempt }) => ({
      outcome: params.outcome,
    })),
    tellRetry: unprovided<Failure>('tellRetry'),
  },
  guards: {
    isEnrolled: (_, params: { attempt: EnrollmentAttempt }) => params.attempt?.kind === 'enrolled',
    isRefused: (_, params: { attempt: EnrollmentAttempt }) => params.attempt?.kind === 'refused',
  },
}).createMachine({
  id: 'enrollment',
  context: ({ input }) => ({
    ...input,
    failures: 0,
    retryAfterMs: null,
    reason: null,
    outcome: null,
  }),
  initial: 'requesting',
  states: {
    requesting: {
      description: 'The request is on its way.',
      invoke: {
        id: 'requestEnrollment',
        src: 'requestEnrollment',
        onDone: [
          {
            guard: { type: 'isEnrolled', params: ({ event }) => ({ attempt: event.output }) },
            target: 'enrolled',
            actions: { type: 'noteOutcome', params: ({ event }) => ({ outcome: event.output }) },
          },
          {
            guard: { type: 'isRefused', params: ({ event }) => ({ attempt: event.output }) },
            target: 'refused',
            actions: { type: 'noteOutcome', params: ({ event }) => ({ outcome: event.output }) },
          },
          {
            target: 'waiting',
            actions: {
              type: 'noteFailure',
              params: ({ event }) => failureOf(event.output),
            },
          },
        ],
        onError: {
          target: 'waiting',
          actions: {
            type: 'noteFailure',
            params: ({ event }) => ({ reason: String(event.error), retryAfterMs: null }),
          },
        },
      },
    },
    waiting: {
      description: 'No final answer; the next try waits.',
      entry: {
        type: 'tellRetry',
        params: ({ context }) => ({
          reason: context.reason ?? '',
          retryAfterMs: context.retryAfterMs,
        }),
      },
      after: { retryDelayMs: 'requesting' },
    },
    enrolled: { type: 'final', description: 'The certificate is installed.' },
    refused: { type: 'final', description: 'A person has to act.' },
  },
  output: ({ context }) =>
    context.outcome ?? { kind: 'retry', reason: context.reason ?? '', retryAfterMs: null },
});

function failureOf(attempt: EnrollmentAttempt | undefined): Failure {
  if (attempt?.kind !== 'retry') return { reason: 'no answer', retryAfterMs: null };
  return { reason: attempt.reason, retryAfterMs: attempt.retryAfterMs };
}

export type EnrollmentActorRef = ActorRefFrom<typeof enrollmentMachine>;
export type EnrollmentSnapshot = SnapshotFrom<typeof enrollmentMachine>;
