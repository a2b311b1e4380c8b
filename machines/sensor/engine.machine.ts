// The engine subprocess: unpacked, started, watched, restarted, and followed by a newer build of itself. decision: D50
//   unpacking           the engine's files are put in place
//   attending.starting  the process runs and has not said hello; a deadline ends it
//   attending.running   it says `alive` from time to time; silence counts as a hang, too much memory as a failure
//   attending.upgrading.attaching  a newer build is started beside it, which goes on and is watched as before; what
//                       fails now is the newer build, and nothing has happened
//   attending.upgrading.swapping  the newer build is attached and the one before was asked to end; a failure from now
//                       on is a loss, and what ran before is what is started again
//   lost                it ended or hung; the clock is read to count the failure
//   backing_off         the wait before the next start, 1 s to 60 s, doubling; after some failures a lesser engine
//                       takes over at once, where there is one
//   failed              too many failures in one window; tried again when the window is over
//   stopping            an ordered stop is under way
//   stopped             it is gone (final)
import { type ActorRefFrom, assign, raise, type SnapshotFrom, setup } from 'xstate';
import { ENGINE_STOP_TIMEOUT_MS } from '../limits.ts';
import { unprovided, unprovidedActor } from '../unprovided.ts';
import { backoffMs } from './backoff.rules.ts';
import {
  type EngineBuild,
  type EngineHello,
  type EngineRefusal,
  isGivenUp,
  isRunaway,
  isTimeToFallBack,
  isUntried,
  withFailure,
  withoutKind,
  withRefusal,
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
  /** The newer build that is tried now. */
  readonly next: EngineBuild | null;
  /** The newer builds that did not take over, one a kind; each is left alone until what would run is another one. */
  readonly refusals: readonly EngineRefusal[];
};
/** What became of putting the files in place. */
export type EngineLaidOut = {
  /** Whether another engine could run in its place. */
  readonly hasFallback: boolean;
  /** The builds that were not brought because they were refused, maybe in an earlier life of the Sensor. */
  readonly refusals: readonly EngineRefusal[];
};
type EngineEvent =
  | { readonly type: 'engine.ready'; readonly hello: EngineHello }
  | { readonly type: 'engine.alive'; readonly memoryBytes?: number }
  /** What would run is another build than what runs, or a better engine; or nothing is but what was refused. */
  | { readonly type: 'engine.newer'; readonly build: EngineBuild }
  | { readonly type: 'engine.current'; readonly refusals: readonly EngineRefusal[] }
  | { readonly type: 'next.attached' }
  | { readonly type: 'next.ready'; readonly hello: EngineHello }
  | { readonly type: 'next.ended'; readonly reason: string }
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
    unpackEngine: unprovidedActor<EngineLaidOut>('unpackEngine'),
    /** Ends when the one that runs does; one that was let go for a newer build does not count. */
    runEngine: unprovidedActor<string>('runEngine'),
    /** Ends when the newer build does; stopped before that build was accepted, it ends it. */
    runNext: unprovidedActor<string, EngineBuild | null>('runNext'),
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
    noteLaidOut: assign((_, params: EngineLaidOut) => params),
    noteNext: assign((_, params: { build: EngineBuild }) => ({ next: params.build })),
    noteRefusal: assign(({ context: { next, refusals } }, { reason }: { reason: string }) => ({
      next: null,
      refusals: next === null ? refusals : withRefusal(refusals, { build: next, reason }),
    })),
    noteRefusals: assign((_, params: { refusals: readonly EngineRefusal[] }) => params),
    noteAccepted: assign(({ context: { next, refusals } }) => ({
      next: null,
      refusals: next === null ? refusals : withoutKind(refusals, next.kind),
    })),
    tellNextEnded: raise((_, params: { reason: string }) => ({
      type: 'next.ended' as const,
      reason: params.reason,
    })),
    /** Asks the one that runs to end: the newer build sees what happens from now on. */
    letGo: unprovided('letGo'),
    /** The newer build is the one that runs, and the one that is started from now on. */
    acceptNext: unprovided<{ build: EngineBuild | null }>('acceptNext'),
    /** What ran before is what is started from now on. */
    refuseNext: unprovided<{ build: EngineBuild | null; reason: string }>('refuseNext'),
    fallBack: unprovided<{ reason: string }>('fallBack'),
    tellLost: unprovided<{ reason: string }>('tellLost'),
    tellRunning: unprovided('tellRunning'),
  },
  guards: {
    isGivenUp: ({ context }) => isGivenUp(context.failuresAtMs),
    canFallBack: ({ context }) => context.hasFallback && isTimeToFallBack(context.failuresAtMs),
    isRunaway: ({ context }, params: { memoryBytes: number }) =>
      isRunaway(context.hello?.kind ?? '', params.memoryBytes),
    isUntried: ({ context }, params: { build: EngineBuild }) =>
      isUntried(context.refusals, params.build),
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
    next: null,
    refusals: [],
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
            type: 'noteLaidOut',
            params: ({ event }) => event.output,
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
            'engine.newer': {
              guard: { type: 'isUntried', params: ({ event }) => ({ build: event.build }) },
              target: 'upgrading',
              actions: { type: 'noteNext', params: ({ event }) => ({ build: event.build }) },
            },
            'engine.current': {
              actions: {
                type: 'noteRefusals',
                params: ({ event }) => ({ refusals: event.refusals }),
              },
            },
          },
          after: {
            hangTimeoutMs: {
              target: '#engine.lost',
              actions: { type: 'noteReason', params: { reason: 'it went silent' } },
            },
          },
        },
        upgrading: {
          description: 'A newer build is started beside it and takes over once it is attached.',
          tags: 'running',
          invoke: {
            id: 'runNext',
            src: 'runNext',
            input: ({ context }) => context.next,
            onDone: {
              actions: {
                type: 'tellNextEnded',
                params: ({ event }) => ({ reason: String(event.output) }),
              },
            },
            onError: {
              actions: {
                type: 'tellNextEnded',
                params: ({ event }) => ({ reason: String(event.error) }),
              },
            },
          },
          after: {
            startTimeoutMs: {
              actions: {
                type: 'tellNextEnded',
                params: { reason: 'it did not take over in time' },
              },
            },
          },
          initial: 'attaching',
          states: {
            attaching: {
              description: 'The newer build does not see yet; the one that runs is watched.',
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
                  { target: 'attaching', reenter: true },
                ],
                'next.attached': 'swapping',
                'next.ended': {
                  target: '#engine.attending.running',
                  actions: [
                    {
                      type: 'refuseNext',
                      params: ({ context, event }) => ({
                        build: context.next,
                        reason: event.reason,
                      }),
                    },
                    { type: 'noteRefusal', params: ({ event }) => ({ reason: event.reason }) },
                  ],
                },
              },
              after: {
                hangTimeoutMs: {
                  target: '#engine.lost',
                  actions: { type: 'noteReason', params: { reason: 'it went silent' } },
                },
              },
            },
            swapping: {
              description: 'The one before was asked to end; the newer build says hello after it.',
              entry: 'letGo',
              on: {
                'next.ready': {
                  target: '#engine.attending.running',
                  actions: [
                    { type: 'noteHello', params: ({ event }) => ({ hello: event.hello }) },
                    { type: 'acceptNext', params: ({ context }) => ({ build: context.next }) },
                    'noteAccepted',
                  ],
                },
                'next.ended': {
                  target: '#engine.lost',
                  actions: [
                    { type: 'noteReason', params: ({ event }) => ({ reason: event.reason }) },
                    {
                      type: 'refuseNext',
                      params: ({ context, event }) => ({
                        build: context.next,
                        reason: event.reason,
                      }),
                    },
                    { type: 'noteRefusal', params: ({ event }) => ({ reason: event.reason }) },
                  ],
                },
              },
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
