// The root of the Sensor. The engine collects and the spool keeps in every state after `unpacking` except the last ones;
// the states differ in whether anything is forwarded. invariant: I12
//   preparing              the state directory is opened and the identity recovered
//   enrolling              a token is exchanged for an identity
//   running                everything is forwarded (tag `forwards`)
//   awaiting_reenrollment  the certificate is over by this node's own clock: nothing is sent, the spool fills, a
//                          re-enrollment token is looked for; left again when that clock was wrong
//   revoked                the Console revoked the identity: nothing is collected or sent, and it says so
//   stopping               the stream says goodbye, the spool is flushed, the engine ends
//   stopped                all is quiet (final)
//   failed                 it cannot go on; the exit code says why (final)
import { type ActorRefFrom, assign, type SnapshotFrom, setup } from 'xstate';
import { unprovided, unprovidedActor } from '../unprovided.ts';
import type { EnrollmentAttempt } from './enrollment.rules.ts';
import { EXIT, enrollmentFailure, type NextStep, nextStepOf, type Prepared } from './node.rules.ts';

export type NodeInput = { readonly tokenCheckMs: number; readonly stopTimeoutMs: number };
type NodeContext = NodeInput & {
  readonly step: NextStep | null;
  readonly exitCode: number;
  readonly reason: string | null;
};
type NodeEvent =
  | { readonly type: 'certificate.expired' }
  /** The clock that called it expired was put right. */
  | { readonly type: 'certificate.valid' }
  | { readonly type: 'sensor.revoked' }
  | { readonly type: 'stop.requested' };

export const nodeMachine = setup({
  types: {
    context: {} as NodeContext,
    events: {} as NodeEvent,
    input: {} as NodeInput,
    tags: {} as 'forwards' | 'collects',
    output: {} as { readonly exitCode: number; readonly reason: string | null },
  },
  delays: {
    tokenCheckMs: ({ context }) => context.tokenCheckMs,
    stopTimeoutMs: ({ context }) => context.stopTimeoutMs,
  },
  actors: {
    prepare: unprovidedActor<Prepared>('prepare'),
    enroll: unprovidedActor<EnrollmentAttempt>('enroll'),
    lookForToken: unprovidedActor<boolean>('lookForToken'),
    startCollecting: unprovidedActor<unknown>('startCollecting'),
    stopEverything: unprovidedActor<unknown>('stopEverything'),
  },
  actions: {
    notePrepared: assign((_, params: { found: Prepared }) => ({
      step: params.found === undefined ? null : nextStepOf(params.found),
      reason: params.found?.reason ?? null,
    })),
    noteFailure: assign((_, params: { exitCode: number; reason: string }) => params),
    startForwarding: unprovided('startForwarding'),
    stopForwarding: unprovided('stopForwarding'),
    stopCollecting: unprovided('stopCollecting'),
    rememberRevoked: unprovided('rememberRevoked'),
    tellRefused: unprovided<{ reason: string }>('tellRefused'),
    tellState: unprovided<{ state: string }>('tellState'),
  },
  guards: {
    mustRun: ({ context }) => context.step === 'run',
    mustEnroll: ({ context }) => context.step === 'enroll',
    mustAwait: ({ context }) => context.step === 'await',
    isRevoked: ({ context }) => context.step === 'revoked',
    isEnrolled: (_, params: { attempt: EnrollmentAttempt }) => params.attempt?.kind === 'enrolled',
    isTrue: (_, params: { value: boolean }) => params.value === true,
  },
}).createMachine({
  id: 'node',
  context: ({ input }) => ({ ...input, step: null, exitCode: EXIT.ok, reason: null }),
  initial: 'preparing',
  states: {
    preparing: {
      description: 'The state directory is opened and the identity recovered.',
      on: { 'stop.requested': 'stopping' },
      invoke: {
        id: 'prepare',
        src: 'prepare',
        onDone: {
          target: 'choosing',
          actions: { type: 'notePrepared', params: ({ event }) => ({ found: event.output }) },
        },
        onError: {
          target: 'failing',
          actions: {
            type: 'noteFailure',
            params: ({ event }) => ({ exitCode: EXIT.failed, reason: messageOf(event.error) }),
          },
        },
      },
    },
    choosing: {
      description: 'What was found decides.',
      always: [
        { guard: 'mustRun', target: 'running' },
        { guard: 'mustEnroll', target: 'enrolling' },
        { guard: 'mustAwait', target: 'awaiting_reenrollment' },
        { guard: 'isRevoked', target: 'revoked' },
        {
          target: 'failing',
          actions: {
            type: 'noteFailure',
            params: ({ context }) => ({
              exitCode: EXIT.refusedByState,
              reason: context.reason ?? 'this node is not enrolled',
            }),
          },
        },
      ],
    },
    enrolling: {
      description: 'A token is exchanged for an identity.',
      entry: { type: 'tellState', params: { state: 'enrolling' } },
      on: { 'stop.requested': 'stopping' },
      invoke: {
        id: 'enroll',
        src: 'enroll',
        onDone: [
          {
            guard: { type: 'isEnrolled', params: ({ event }) => ({ attempt: event.output }) },
            target: 'running',
          },
          {
            target: 'failing',
            actions: {
              type: 'noteFailure',
              params: ({ event }) => enrollmentFailure(event.output),
            },
          },
        ],
        onError: {
          target: 'failing',
          actions: {
            type: 'noteFailure',
            params: ({ event }) => ({ exitCode: EXIT.failed, reason: messageOf(event.error) }),
          },
        },
      },
    },
    running: {
      description: 'Everything is collected and forwarded.',
      tags: ['forwards', 'collects'],
      entry: ['startForwarding', { type: 'tellState', params: { state: 'running' } }],
      exit: 'stopForwarding',
      invoke: {
        id: 'startCollecting',
        src: 'startCollecting',
        onError: {
          target: 'failing',
          actions: {
            type: 'noteFailure',
            params: ({ event }) => ({ exitCode: EXIT.failed, reason: messageOf(event.error) }),
          },
        },
      },
      on: {
        'certificate.expired': 'awaiting_reenrollment',
        'sensor.revoked': 'revoked',
        'stop.requested': 'stopping',
      },
    },
    awaiting_reenrollment: {
      description: 'The certificate expired; the spool fills and a token is looked for.',
      tags: 'collects',
      entry: { type: 'tellState', params: { state: 'awaiting_reenrollment' } },
      invoke: {
        id: 'startCollecting',
        src: 'startCollecting',
        onError: {
          target: 'failing',
          actions: {
            type: 'noteFailure',
            params: ({ event }) => ({ exitCode: EXIT.failed, reason: messageOf(event.error) }),
          },
        },
      },
      on: { 'stop.requested': 'stopping', 'sensor.revoked': 'revoked' },
      initial: 'looking',
      states: {
        looking: {
          description: 'Is there a token now?',
          on: { 'certificate.valid': '#node.running' },
          invoke: {
            id: 'lookForToken',
            src: 'lookForToken',
            onDone: [
              {
                guard: { type: 'isTrue', params: ({ event }) => ({ value: event.output }) },
                target: 'exchanging',
              },
              { target: 'sleeping' },
            ],
            onError: 'sleeping',
          },
        },
        sleeping: {
          description: 'No token; look again later.',
          on: { 'certificate.valid': '#node.running' },
          after: { tokenCheckMs: 'looking' },
        },
        exchanging: {
          description: 'The token is exchanged for a new certificate of the same identity.',
          invoke: {
            id: 'reenroll',
            src: 'enroll',
            onDone: [
              {
                guard: { type: 'isEnrolled', params: ({ event }) => ({ attempt: event.output }) },
                target: '#node.running',
              },
              {
                target: 'sleeping',
                actions: {
                  type: 'tellRefused',
                  params: ({ event }) => ({ reason: enrollmentFailure(event.output).reason }),
                },
              },
            ],
            onError: 'sleeping',
          },
        },
      },
    },
    revoked: {
      description: 'The Console revoked the identity; nothing is collected or sent.',
      entry: [
        'rememberRevoked',
        'stopCollecting',
        { type: 'tellState', params: { state: 'revoked' } },
      ],
      on: { 'stop.requested': 'stopping' },
    },
    failing: {
      description: 'It cannot go on; what runs is stopped first.',
      invoke: {
        id: 'stopAfterFailure',
        src: 'stopEverything',
        onDone: 'failed',
        onError: 'failed',
      },
      after: { stopTimeoutMs: 'failed' },
    },
    stopping: {
      description: 'Goodbye is said, the spool flushed, the engine ended.',
      invoke: {
        id: 'stopEverything',
        src: 'stopEverything',
        onDone: 'stopped',
        onError: 'stopped',
      },
      after: { stopTimeoutMs: 'stopped' },
    },
    stopped: { type: 'final', description: 'All is quiet.' },
    failed: { type: 'final', description: 'The exit code says why.' },
  },
  output: ({ context }) => ({ exitCode: context.exitCode, reason: context.reason }),
});

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export type NodeActorRef = ActorRefFrom<typeof nodeMachine>;
export type NodeSnapshot = SnapshotFrom<typeof nodeMachine>;
