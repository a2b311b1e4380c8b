// The Sensor's heartbeat and the drain of the spool beside it. decision: D6, D13
//   beat.waiting    the interval runs, give or take its jitter
//   beat.sending    one heartbeat is in flight; there are never two
//   drain.idle      nothing to drain, or not yet: only a heartbeat that arrived starts a drain
//   drain.sending   one batch is in flight; the next follows its acknowledgment, so order holds
//   drain.paused    the Console asked to wait
import { type ActorRefFrom, assign, raise, type SnapshotFrom, setup } from 'xstate';
import { PAUSE_MAX_MS } from '../limits.ts';
import { unprovided, unprovidedActor } from '../unprovided.ts';
import { obeyRetryAfter } from './backoff.rules.ts';
import {
  acceptInterval,
  type DrainOutcome,
  type HeartbeatOutcome,
  heartbeatDelayMs,
} from './heartbeat.rules.ts';

export type HeartbeatInput = {
  readonly intervalMs: number;
  readonly seed: number;
};
type HeartbeatContext = {
  readonly configuredMs: number;
  readonly intervalMs: number;
  readonly seed: number;
  readonly beats: number;
  /** Heartbeats failed in a row. */
  readonly failures: number;
  readonly retryAfterMs: number | null;
  readonly pauseMs: number;
};
type HeartbeatEvent =
  | { readonly type: 'heartbeat.requested' }
  | { readonly type: 'interval.set'; readonly intervalMs: number }
  | { readonly type: 'drain.requested' };
type SendInput = { readonly hasFailedBefore: boolean };

export const heartbeatMachine = setup({
  types: {
    context: {} as HeartbeatContext,
    events: {} as HeartbeatEvent,
    input: {} as HeartbeatInput,
  },
  delays: {
    beatDelayMs: ({ context }) =>
      obeyRetryAfter(
        heartbeatDelayMs(context.intervalMs, context.seed, context.beats),
        context.retryAfterMs,
        PAUSE_MAX_MS,
      ),
    pauseMs: ({ context }) => context.pauseMs,
  },
  actors: {
    sendHeartbeat: unprovidedActor<HeartbeatOutcome, SendInput>('sendHeartbeat'),
    drainBatch: unprovidedActor<DrainOutcome>('drainBatch'),
  },
  actions: {
    noteDelivered: assign(({ context }, params: { outcome: HeartbeatOutcome }) => ({
      beats: context.beats + 1,
      failures: 0,
      retryAfterMs: null,
      intervalMs: acceptInterval(
        params.outcome.kind === 'delivered' ? params.outcome.intervalMs : null,
        context.intervalMs,
        context.configuredMs,
      ),
    })),
    noteFailed: assign(({ context }, params: { retryAfterMs: number | null }) => ({
      beats: context.beats + 1,
      failures: context.failures + 1,
      retryAfterMs: params.retryAfterMs,
    })),
    setInterval: assign(({ context }, params: { intervalMs: number }) => ({
      intervalMs: acceptInterval(params.intervalMs, context.intervalMs, context.configuredMs),
    })),
    setPause: assign((_, params: { pauseMs: number }) => ({
      pauseMs: Math.min(PAUSE_MAX_MS, Math.max(0, params.pauseMs)),
    })),
    requestDrain: raise({ type: 'drain.requested' }),
    tellFailed: unprovided<{ reason: string }>('tellFailed'),
  },
  guards: {
    isDelivered: (_, params: { outcome: HeartbeatOutcome }) => params.outcome?.kind === 'delivered',
    isDeliveredWithBacklog: (_, params: { outcome: HeartbeatOutcome }) =>
      params.outcome?.kind === 'delivered' && params.outcome.needsDrain,
    isMore: (_, params: { outcome: DrainOutcome }) => params.outcome?.kind === 'more',
    isPaused: (_, params: { outcome: DrainOutcome }) => params.outcome?.kind === 'paused',
  },
}).createMachine({
  id: 'heartbeat',
  type: 'parallel',
  context: ({ input }) => ({
    configuredMs: input.intervalMs,
    intervalMs: input.intervalMs,
    seed: input.seed,
    beats: 0,
    failures: 0,
    retryAfterMs: null,
    pauseMs: 0,
  }),
  on: {
    'interval.set': {
      actions: { type: 'setInterval', params: ({ event }) => ({ intervalMs: event.intervalMs }) },
    },
  },
  states: {
    beat: {
      description: 'The heartbeat itself.',
      initial: 'sending',
      states: {
        waiting: {
          description: 'The interval runs.',
          on: { 'heartbeat.requested': 'sending' },
          after: { beatDelayMs: 'sending' },
        },
        sending: {
          description: 'One heartbeat is in flight.',
          invoke: {
            id: 'sendHeartbeat',
            src: 'sendHeartbeat',
            input: ({ context }) => ({ hasFailedBefore: context.failures > 0 }),
            onDone: [
              {
                guard: {
                  type: 'isDeliveredWithBacklog',
                  params: ({ event }) => ({ outcome: event.output }),
                },
                target: 'waiting',
                actions: [
                  { type: 'noteDelivered', params: ({ event }) => ({ outcome: event.output }) },
                  'requestDrain',
                ],
              },
              {
                guard: { type: 'isDelivered', params: ({ event }) => ({ outcome: event.output }) },
                target: 'waiting',
                actions: {
                  type: 'noteDelivered',
                  params: ({ event }) => ({ outcome: event.output }),
                },
              },
              {
                target: 'waiting',
                actions: [
                  {
                    type: 'noteFailed',
                    params: ({ event }) => ({ retryAfterMs: event.output?.retryAfterMs ?? null }),
                  },
                  {
                    type: 'tellFailed',
                    params: ({ event }) => ({ reason: reasonOf(event.output) }),
                  },
                ],
              },
            ],
            onError: {
              target: 'waiting',
              actions: [
                { type: 'noteFailed', params: { retryAfterMs: null } },
                { type: 'tellFailed', params: ({ event }) => ({ reason: String(event.error) }) },
              ],
            },
          },
        },
      },
    },
    drain: {
      description: 'What neither stream nor heartbeat could deliver, in large batches.',
      initial: 'idle',
      states: {
        idle: {
          description: 'Nothing to drain, or not yet.',
          on: { 'drain.requested': 'sending' },
        },
        sending: {
          description: 'One batch is in flight.',
          invoke: {
            id: 'drainBatch',
            src: 'drainBatch',
            onDone: [
              {
                guard: { type: 'isMore', params: ({ event }) => ({ outcome: event.output }) },
                target: 'sending',
                reenter: true,
              },
              {
                guard: { type: 'isPaused', params: ({ event }) => ({ outcome: event.output }) },
                target: 'paused',
                actions: {
                  type: 'setPause',
                  params: ({ event }) => ({ pauseMs: pauseOf(event.output) }),
                },
              },
              { target: 'idle' },
            ],
            onError: 'idle',
          },
        },
        paused: {
          description: 'The Console asked to wait.',
          after: { pauseMs: 'sending' },
        },
      },
    },
  },
});

function reasonOf(outcome: HeartbeatOutcome | undefined): string {
  return outcome?.kind === 'failed' ? outcome.reason : 'no answer';
}

function pauseOf(outcome: DrainOutcome): number {
  return outcome.kind === 'paused' ? outcome.retryAfterMs : 0;
}

export type HeartbeatActorRef = ActorRefFrom<typeof heartbeatMachine>;
export type HeartbeatSnapshot = SnapshotFrom<typeof heartbeatMachine>;
