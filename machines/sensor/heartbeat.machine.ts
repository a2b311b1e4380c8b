// The Sensor's heartbeat and the drain of the spool beside it. decision: D6, D13
//   beat.holding    the stream is given the time to open: what it can carry does not go on the first heartbeat
//   beat.waiting    the interval runs, give or take its jitter
//   beat.soon       something changed that the Console should know: the next heartbeat goes out in a moment
//   beat.sending    one heartbeat is in flight; there are never two
//   drain.idle      nothing to drain, or not yet: only a heartbeat that arrived starts a drain
//   drain.sending   one batch is in flight; the next follows its acknowledgment, so order holds
//   drain.paused    the Console asked to wait
import { type ActorRefFrom, assign, raise, type SnapshotFrom, setup } from 'xstate';
import { HEARTBEAT_SOON_MS, PAUSE_MAX_MS } from '../limits.ts';
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
  /** How long the first heartbeat waits for the stream. */
  readonly holdMs: number;
  readonly seed: number;
};
type HeartbeatContext = {
  readonly configuredMs: number;
  readonly intervalMs: number;
  readonly holdMs: number;
  readonly seed: number;
  readonly beats: number;
  /** Heartbeats failed in a row. */
  readonly failures: number;
  /** What the last answer asked to wait: a refusal before the next heartbeat, any other before one that is not due. */
  readonly retryAfterMs: number | null;
  readonly pauseMs: number;
  /** A heartbeat was asked for while one was in flight. */
  readonly isWanted: boolean;
};
type HeartbeatEvent =
  | { readonly type: 'heartbeat.requested' }
  | { readonly type: 'stream.settled' }
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
    // A Console that answered goes on hearing from the Sensor at its interval, since freshness hangs on it; the wait it
    // asked for is one for what is not due. Only a Console that refused is left alone for as long as it asks.
    beatDelayMs: ({ context }) =>
      obeyRetryAfter(
        heartbeatDelayMs(context.intervalMs, context.seed, context.beats),
        context.failures === 0 ? null : context.retryAfterMs,
        PAUSE_MAX_MS,
      ),
    pauseMs: ({ context }) => context.pauseMs,
    holdMs: ({ context }) => context.holdMs,
    soonMs: ({ context }) => Math.min(HEARTBEAT_SOON_MS, context.intervalMs),
  },
  actors: {
    sendHeartbeat: unprovidedActor<HeartbeatOutcome, SendInput>('sendHeartbeat'),
    drainBatch: unprovidedActor<DrainOutcome>('drainBatch'),
  },
  actions: {
    noteDelivered: assign(({ context }, params: { outcome: HeartbeatOutcome }) => ({
      beats: context.beats + 1,
      failures: 0,
      retryAfterMs: params.outcome.retryAfterMs,
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
    want: assign({ isWanted: true }),
    forgetWanted: assign({ isWanted: false }),
    requestDrain: raise({ type: 'drain.requested' }),
    tellFailed: unprovided<{ reason: string }>('tellFailed'),
  },
  guards: {
    isDelivered: (_, params: { outcome: HeartbeatOutcome }) => params.outcome?.kind === 'delivered',
    isDeliveredWithBacklog: (_, params: { outcome: HeartbeatOutcome }) =>
      params.outcome?.kind === 'delivered' &&
      params.outcome.needsDrain &&
      params.outcome.retryAfterMs === null,
    // A Console that refused, was not reached or asked to wait is not asked sooner for it.
    isFree: ({ context }) => context.failures === 0 && context.retryAfterMs === null,
    isWanted: ({ context }) =>
      context.isWanted && context.failures === 0 && context.retryAfterMs === null,
    isMore: (_, params: { outcome: DrainOutcome }) => params.outcome?.kind === 'more',
    isPaused: (_, params: { outcome: DrainOutcome }) => params.outcome?.kind === 'paused',
  },
}).createMachine({
  id: 'heartbeat',
  type: 'parallel',
  context: ({ input }) => ({
    configuredMs: input.intervalMs,
    intervalMs: input.intervalMs,
    holdMs: input.holdMs,
    seed: input.seed,
    beats: 0,
    failures: 0,
    retryAfterMs: null,
    pauseMs: 0,
    isWanted: false,
  }),
  on: {
    'interval.set': {
      actions: { type: 'setInterval', params: ({ event }) => ({ intervalMs: event.intervalMs }) },
    },
  },
  states: {
    beat: {
      description: 'The heartbeat itself.',
      initial: 'holding',
      states: {
        holding: {
          description: 'The stream is given the time to open.',
          on: { 'stream.settled': 'sending' },
          after: { holdMs: 'sending' },
        },
        soon: {
          description: 'The next heartbeat goes out in a moment.',
          after: { soonMs: 'sending' },
        },
        waiting: {
          description: 'The interval runs.',
          always: { guard: 'isWanted', target: 'soon' },
          on: { 'heartbeat.requested': { guard: 'isFree', target: 'soon' } },
          after: { beatDelayMs: 'sending' },
        },
        sending: {
          description: 'One heartbeat is in flight.',
          entry: 'forgetWanted',
          on: { 'heartbeat.requested': { actions: 'want' } },
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
