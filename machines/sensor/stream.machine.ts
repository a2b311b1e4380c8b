// The Sensor's stream to the Console. decision: D6, D9
//   waiting                  the delay before the next try runs; it doubles from 1 s to 30 s
//   opening                  a WebSocket is being opened and greeted; a deadline ends the try
//   open.delivery.resting    nothing is in flight; the next tick looks for events
//   open.delivery.claiming   the spool is asked for a numbered batch, the open one first
//   open.delivery.sent       one batch is unacknowledged; there are never two, and a deadline closes the socket
//   open.delivery.settling   the acknowledgment, or a new number, is written down
//   open.delivery.paused     the Console asked to wait; the same batch goes out again afterwards
//   open.liveness            a Console that stays silent for three pings is gone
import { type ActorRefFrom, assign, type SnapshotFrom, setup } from 'xstate';
import { PAUSE_MAX_MS } from '../limits.ts';
import { unprovided, unprovidedActor } from '../unprovided.ts';
import { backoffMs, obeyRetryAfter } from './backoff.rules.ts';
import type { OpenOutcome, TickClaim } from './stream.rules.ts';

export type StreamInput = {
  readonly minMs: number;
  readonly maxMs: number;
  readonly openTimeoutMs: number;
  readonly tickMs: number;
  readonly ackTimeoutMs: number;
  readonly silenceMs: number;
  readonly seed: number;
};
type StreamContext = StreamInput & {
  readonly failures: number;
  readonly retryAfterMs: number | null;
  readonly pauseMs: number;
  /** The number of the batch in flight. */
  readonly sequence: number | null;
  /** Whether that batch was as large as allowed, so that more is waiting. */
  readonly isFull: boolean;
};
type StreamEvent =
  | { readonly type: 'socket.lost'; readonly reason: string }
  | { readonly type: 'ping.received' }
  | { readonly type: 'batch.acknowledged'; readonly sequence: number }
  | { readonly type: 'batch.refused'; readonly sequence: number; readonly code: string }
  | { readonly type: 'pause.requested'; readonly ms: number };
type SettleInput = { readonly sequence: number; readonly code: string | null };

export const streamMachine = setup({
  types: {
    context: {} as StreamContext,
    events: {} as StreamEvent,
    input: {} as StreamInput,
    tags: {} as 'can-send',
  },
  delays: {
    retryDelayMs: ({ context }) =>
      obeyRetryAfter(backoffMs(context), context.retryAfterMs, PAUSE_MAX_MS),
    openTimeoutMs: ({ context }) => context.openTimeoutMs,
    tickMs: ({ context }) => context.tickMs,
    ackTimeoutMs: ({ context }) => context.ackTimeoutMs,
    silenceMs: ({ context }) => context.silenceMs,
    pauseMs: ({ context }) => context.pauseMs,
  },
  actors: {
    openSocket: unprovidedActor<OpenOutcome>('openSocket'),
    claimBatch: unprovidedActor<TickClaim>('claimBatch'),
    settleBatch: unprovidedActor<unknown, SettleInput>('settleBatch'),
  },
  actions: {
    countFailure: assign(({ context }, params: { retryAfterMs: number | null }) => ({
      failures: context.failures + 1,
      retryAfterMs: params.retryAfterMs,
      sequence: null,
    })),
    forgetFailures: assign({ failures: 0, retryAfterMs: null, sequence: null }),
    noteSent: assign((_, params: { sequence: number; isFull: boolean }) => params),
    noteSettled: assign({ sequence: null }),
    setPause: assign((_, params: { ms: number }) => ({
      pauseMs: Math.min(PAUSE_MAX_MS, Math.max(0, params.ms)),
    })),
    sendBatch: unprovided<{ sequence: number }>('sendBatch'),
    closeSocket: unprovided('closeSocket'),
    tellOpened: unprovided('tellOpened'),
    tellLost: unprovided('tellLost'),
  },
  guards: {
    isOpened: (_, params: { outcome: OpenOutcome }) => params.outcome?.kind === 'opened',
    hasClaim: (_, params: { claim: TickClaim }) =>
      params.claim !== null && params.claim !== undefined,
    wasFull: ({ context }) => context.isFull,
    isInFlight: ({ context }, params: { sequence: number }) => context.sequence === params.sequence,
  },
}).createMachine({
  id: 'stream',
  context: ({ input }) => ({
    ...input,
    failures: 0,
    retryAfterMs: null,
    pauseMs: 0,
    sequence: null,
    isFull: false,
  }),
  initial: 'opening',
  states: {
    waiting: {
      description: 'The delay before the next try runs.',
      after: { retryDelayMs: 'opening' },
    },
    opening: {
      description: 'A WebSocket is being opened and greeted.',
      invoke: {
        id: 'openSocket',
        src: 'openSocket',
        onDone: [
          {
            guard: { type: 'isOpened', params: ({ event }) => ({ outcome: event.output }) },
            target: 'open',
          },
          {
            target: 'waiting',
            actions: {
              type: 'countFailure',
              params: ({ event }) => ({ retryAfterMs: retryAfterOf(event.output) }),
            },
          },
        ],
        onError: {
          target: 'waiting',
          actions: { type: 'countFailure', params: { retryAfterMs: null } },
        },
      },
      on: {
        'socket.lost': {
          target: 'waiting',
          actions: { type: 'countFailure', params: { retryAfterMs: null } },
        },
      },
      after: {
        openTimeoutMs: {
          target: 'waiting',
          actions: ['closeSocket', { type: 'countFailure', params: { retryAfterMs: null } }],
        },
      },
    },
    open: {
      description: 'Frames flow both ways.',
      tags: 'can-send',
      type: 'parallel',
      entry: ['forgetFailures', 'tellOpened'],
      exit: ['closeSocket', 'tellLost'],
      on: {
        'socket.lost': {
          target: 'waiting',
          actions: { type: 'countFailure', params: { retryAfterMs: null } },
        },
      },
      states: {
        delivery: {
          description: 'One numbered batch at a time.',
          initial: 'claiming',
          states: {
            resting: {
              description: 'Nothing is in flight.',
              on: {
                'pause.requested': {
                  target: 'paused',
                  actions: { type: 'setPause', params: ({ event }) => ({ ms: event.ms }) },
                },
              },
              after: { tickMs: 'claiming' },
            },
            claiming: {
              description: 'The spool is asked for a batch.',
              invoke: {
                id: 'claimBatch',
                src: 'claimBatch',
                onDone: [
                  {
                    guard: { type: 'hasClaim', params: ({ event }) => ({ claim: event.output }) },
                    target: 'sent',
                    actions: [
                      {
                        type: 'noteSent',
                        params: ({ event }) => ({
                          sequence: event.output?.sequence ?? 0,
                          isFull: event.output?.isFull ?? false,
                        }),
                      },
                      {
                        type: 'sendBatch',
                        params: ({ event }) => ({ sequence: event.output?.sequence ?? 0 }),
                      },
                    ],
                  },
                  { target: 'resting' },
                ],
                onError: 'resting',
              },
            },
            sent: {
              description: 'One batch is unacknowledged.',
              on: {
                'batch.acknowledged': {
                  guard: {
                    type: 'isInFlight',
                    params: ({ event }) => ({ sequence: event.sequence }),
                  },
                  target: 'settling.acknowledged',
                },
                'batch.refused': {
                  guard: {
                    type: 'isInFlight',
                    params: ({ event }) => ({ sequence: event.sequence }),
                  },
                  target: 'settling.refused',
                },
                'pause.requested': {
                  target: 'paused',
                  actions: { type: 'setPause', params: ({ event }) => ({ ms: event.ms }) },
                },
              },
              after: {
                ackTimeoutMs: {
                  target: '#stream.waiting',
                  actions: { type: 'countFailure', params: { retryAfterMs: null } },
                },
              },
            },
            settling: {
              description: 'The answer is written down.',
              initial: 'acknowledged',
              states: {
                acknowledged: {
                  description: 'The batch is done.',
                  invoke: {
                    id: 'settleAcknowledged',
                    src: 'settleBatch',
                    input: ({ context }) => ({ sequence: context.sequence ?? 0, code: null }),
                    onDone: [
                      { guard: 'wasFull', target: '#stream.open.delivery.claiming' },
                      { target: '#stream.open.delivery.resting' },
                    ],
                    onError: '#stream.open.delivery.resting',
                  },
                },
                refused: {
                  description: 'The batch gets a new number, or is given back.',
                  invoke: {
                    id: 'settleRefused',
                    src: 'settleBatch',
                    input: ({ context, event }) => ({
                      sequence: context.sequence ?? 0,
                      code: event.type === 'batch.refused' ? event.code : 'unknown',
                    }),
                    onDone: '#stream.open.delivery.resting',
                    onError: '#stream.open.delivery.resting',
                  },
                },
              },
              exit: 'noteSettled',
            },
            paused: {
              description: 'The Console asked to wait.',
              after: { pauseMs: 'claiming' },
            },
          },
        },
        liveness: {
          description: 'A Console that stays silent is gone.',
          initial: 'listening',
          states: {
            listening: {
              description: 'A ping is expected.',
              on: { 'ping.received': { target: 'listening', reenter: true } },
              after: {
                silenceMs: {
                  target: '#stream.waiting',
                  actions: { type: 'countFailure', params: { retryAfterMs: null } },
                },
              },
            },
          },
        },
      },
    },
  },
});

function retryAfterOf(outcome: OpenOutcome | undefined): number | null {
  return outcome?.kind === 'failed' ? outcome.retryAfterMs : null;
}

export type StreamActorRef = ActorRefFrom<typeof streamMachine>;
export type StreamSnapshot = SnapshotFrom<typeof streamMachine>;
