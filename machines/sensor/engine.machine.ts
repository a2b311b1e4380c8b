// The engine subprocess: unpacked, started, watched, restarted.
//   unpacking           the engine's files are put in place
//   attending.starting  the process runs and has not said hello; a deadline ends it
//   attending.running   it says `alive` from time to time; silence counts as a hang, too much memory as a failure
//   lost                it ended or hung; the clock is read to count the failure
//   backing_off         the wait before the next start, 1 s to 60 s, doubling; after some failures a lesser engine
//                       takes over at once, where there is one
//   failed              too many failures in one window; tried again when the window is over
//   stopping            an ordered stop is under way
//   stopped             it is gone (final)
import { type ActorRefFrom, assign, type SnapshotFrom, setup } from 'xstate';
import { ENGINE_STOP_TIMEOUT_MS } from '../limits.ts';
import { unprovided, unprovidedActor } from '../unprovided.ts';
import { backoffMs } from './backoff.rules.ts';
import {
  type EngineHello,
  isGivenUp,
  isRunaway,
  isTimeToFallBack,
  withFailure,
} from './engine.rules.ts';

export type EngineInput = {
  readonly startTimeoutMs: number;
  readonly hangTimeoutMs: number;
  readonly minMs: number;
  readonly maxMs: number;
  /** Failures count for so long. */
  readonly windowMs: number;
  readonly seed: number;
};
type EngineContext = EngineInput & {
  readonly failuresAtMs: readonly number[];
  readonly restarts: number;
  readonly hello: EngineHello | null;
  readonly lastReason: string | null;
  readonly hasFallback: boolean;
};
type EngineEvent =
  | { readonly type: 'engine.ready'; readonly hello: EngineHello }
  | { readonly type: 'engine.alive'; readonly memoryBytes?: number }
  | { readonly type: 'stop.requested' };

export const engineMachine = setup({
  types: {
    context: {} as EngineContext,
    events: {} as EngineEvent,
    input: {} as EngineInput,
    tags: {} as 'running',
  },
  delays: {
    startTimeoutMs: ({ context }) => context.startTimeoutMs,
    hangTimeoutMs: ({ context }) => context.hangTimeoutMs,
    backoffMs: ({ context }) =>
      backoffMs({ ...context, failures: Math.max(1, context.failuresAtMs.length) }),
    windowMs: ({ context }) => context.windowMs,
    stopTimeoutMs: 2 * ENGINE_STOP_TIMEOUT_MS,
  },
  actors: {
    /** Answers whether another engine could run in its place. */
    unpackEngine: unprovidedActor<boolean>('unpackEngine'),
    runEngine: unprovidedActor<string>('runEngine'),
    stopEngine: unprovidedActor<unknown>('stopEngine'),
    readClock: unprovidedActor<number>('readClock'),
  },
  actions: {
    noteHello: assign((_, params: { hello: EngineHello }) => ({ hello: params.hello })),
    noteReason: assign((_, params: { reason: string }) => ({ lastReason: params.reason })),
    countFailure: assign(({ context }, params: { atMs: number }) => ({
      failuresAtMs: withFailure(context.failuresAtMs, params.atMs, context.windowMs),
      restarts: context.restarts + 1,
    })),
    forgetFailures: assign({ failuresAtMs: [] }),
    noteFallback: assign((_, params: { hasFallback: boolean }) => params),
    fallBack: unprovided<{ reason: string }>('fallBack'),
    tellLost: unprovided<{ reason: string }>('tellLost'),
    tellRunning: unprovided('tellRunning'),
  },
  guards: {
    isGivenUp: ({ context }) => isGivenUp(context.failuresAtMs),
    canFallBack: ({ context }) => context.hasFallback && isTimeToFallBack(context.failuresAtMs),
    isRunaway: ({ context }, params: { memoryBytes: number }) =>
      isRunaway(context.hello?.kind ?? '', params.memoryBytes),
  },
}).createMachine({
  id: 'engine',
  context: ({ input }) => ({
    ...input,
    failuresAtMs: [],
    restarts: 0,
    hello: null,
    lastReason: null,
    hasFallback: false,
  }),
  initial: 'unpacking',
  states: {
    unpacking: {
      description: "The engine's files are put in place.",
      on: { 'stop.requested': 'stopping' },
      invoke: {
        id: 'unpackEngine',
        src: 'unpackEngine',
        onDone: {
          target: 'attending',
          actions: {
            type: 'noteFallback',
            params: ({ event }) => ({ hasFallback: event.output === true }),
          },
        },
        onError: {
          target: 'lost',
          actions: { type: 'noteReason', params: ({ event }) => ({ reason: String(event.error) }) },
        },
      },
    },
    attending: {
      description: 'The process runs and is watched.',
      on: { 'stop.requested': 'stopping' },
      invoke: {
        id: 'runEngine',
        src: 'runEngine',
        onDone: {
          target: 'lost',
          actions: {
            type: 'noteReason',
            params: ({ event }) => ({ reason: String(event.output) }),
          },
        },
        onError: {
          target: 'lost',
          actions: { type: 'noteReason', params: ({ event }) => ({ reason: String(event.error) }) },
        },
      },
      initial: 'starting',
      states: {
        starting: {
          description: 'It has not said hello yet.',
          on: {
            'engine.ready': {
              target: 'running',
              actions: [
                { type: 'noteHello', params: ({ event }) => ({ hello: event.hello }) },
                'tellRunning',
              ],
            },
          },
          after: {
            startTimeoutMs: {
              target: '#engine.lost',
              actions: { type: 'noteReason', params: { reason: 'it did not say hello in time' } },
            },
          },
        },
        running: {
          description: 'It says that it is alive from time to time.',
          tags: 'running',
          on: {
            'engine.alive': [
              {
                guard: {
                  type: 'isRunaway',
                  params: ({ event }) => ({ memoryBytes: event.memoryBytes ?? 0 }),
                },
                target: '#engine.lost',
                actions: { type: 'noteReason', params: { reason: 'it held too much memory' } },
              },
              { target: 'running', reenter: true },
            ],
          },
          after: {
            hangTimeoutMs: {
              target: '#engine.lost',
              actions: { type: 'noteReason', params: { reason: 'it went silent' } },
            },
          },
        },
      },
    },
    lost: {
      description: 'It ended or hung; the failure is counted.',
      on: { 'stop.requested': 'stopping' },
      entry: {
        type: 'tellLost',
        params: ({ context }) => ({ reason: context.lastReason ?? 'unknown' }),
      },
      invoke: {
        id: 'readClock',
        src: 'readClock',
        onDone: {
          target: 'backing_off',
          actions: { type: 'countFailure', params: ({ event }) => ({ atMs: event.output ?? 0 }) },
        },
        onError: 'backing_off',
      },
    },
    backing_off: {
      description: 'The wait before the next start.',
      on: { 'stop.requested': 'stopping' },
      always: [
        {
          guard: 'canFallBack',
          target: 'unpacking',
          actions: [
            {
              type: 'fallBack',
              params: ({ context }) => ({ reason: context.lastReason ?? 'unknown' }),
            },
            'forgetFailures',
          ],
        },
        { guard: 'isGivenUp', target: 'failed' },
      ],
      after: { backoffMs: 'unpacking' },
    },
    failed: {
      description: 'Too many failures in one window; tried again when it is over.',
      on: { 'stop.requested': 'stopping' },
      after: { windowMs: { target: 'unpacking', actions: 'forgetFailures' } },
    },
    stopping: {
      description: 'An ordered stop is under way.',
      invoke: {
        id: 'stopEngine',
        src: 'stopEngine',
        onDone: 'stopped',
        onError: 'stopped',
      },
      after: { stopTimeoutMs: 'stopped' },
    },
    stopped: { type: 'final', description: 'It is gone.' },
  },
});

export type EngineActorRef = ActorRefFrom<typeof engineMachine>;
export type EngineSnapshot = SnapshotFrom<typeof engineMachine>;
