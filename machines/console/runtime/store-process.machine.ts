// The process of one embedded database, as the Console supervises it. decision: D7
//   starting     the server starts or a running orphan is taken over; a deadline ends the try
//   ready        it answers (tag `usable`); watching and probing alternate, and it may exit at any time
//   clearing     it runs but answers no more: it is ended before it is started again
//   deciding     one more restart in the window, or none: left within the step that enters it
//   backing-off  the wait before the next start; it doubles with the restarts of the window
//   failed       too many restarts in the window; the reason is in the context
//   stopping     the server is asked to finish; whoever asks for a stop gets it from every state
//   stopped      nothing runs
// Times arrive with events and results. Where none does (a deadline, a thrown start) the last known time stands in: it
// is never later than now, so restarts are forgotten too late rather than too early.
import { type ActorRefFrom, assign, type SnapshotFrom, setup } from 'xstate';
import {
  STORE_PROBE_INTERVAL_MS,
  STORE_PROBE_TIMEOUT_MS,
  STORE_START_TIMEOUT_MS,
  STORE_STOP_TIMEOUT_MS,
} from '../../limits.ts';
import { unprovidedActor } from '../../unprovided.ts';
import {
  isHungAfter,
  mayRestart,
  restartDelayMs,
  restartsInWindow,
  storeReasonOf,
} from './store-process.rules.ts';

type StoreProcessContext = {
  readonly wasReady: boolean;
  readonly restartsAtMs: readonly number[];
  readonly lastAtMs: number;
  readonly probeFailures: number;
  readonly reason: string | null;
};
export type StoreProcessEvent =
  | { type: 'store.exited'; atMs: number; reason: string }
  | { type: 'store.stop' };
export type StoreProcessInput = { readonly atMs: number };
export type StoreStartOutcome =
  | { readonly isStarted: true; readonly atMs: number }
  | { readonly isStarted: false; readonly atMs: number; readonly reason: string };
export type StoreProbeOutcome = { readonly isAnswering: boolean; readonly atMs: number };
type StoreProcessTag = 'usable' | 'given-up';

const NO_ANSWER = 'it stopped answering';

export const storeProcessMachine = setup({
  types: {
    context: {} as StoreProcessContext,
    events: {} as StoreProcessEvent,
    input: {} as StoreProcessInput,
    tags: {} as StoreProcessTag,
  },
  delays: {
    startTimeoutMs: STORE_START_TIMEOUT_MS,
    probeIntervalMs: STORE_PROBE_INTERVAL_MS,
    probeTimeoutMs: STORE_PROBE_TIMEOUT_MS,
    // The effect kills after its own deadline; this one only ends a wait for a process that even a kill does not end.
    stopTimeoutMs: 2 * STORE_STOP_TIMEOUT_MS,
    backoffMs: ({ context }) => restartDelayMs(context.restartsAtMs.length),
  },
  actors: {
    startStore: unprovidedActor<StoreStartOutcome>('startStore'),
    probeStore: unprovidedActor<StoreProbeOutcome>('probeStore'),
    stopStore: unprovidedActor<void>('stopStore'),
    watchStore: unprovidedActor<{ readonly atMs: number; readonly reason: string }>('watchStore'),
  },
  guards: {
    isStarted: (_, params: { outcome: StoreStartOutcome }) => params.outcome.isStarted,
    isAnswering: (_, params: { outcome: StoreProbeOutcome }) => params.outcome.isAnswering,
    isHung: ({ context }) => isHungAfter(context.probeFailures),
    mayRestart: ({ context }) => mayRestart({ ...context, atMs: context.lastAtMs }),
  },
  actions: {
    noteReady: assign({ wasReady: true, probeFailures: 0, reason: null }),
    noteTime: assign({
      lastAtMs: ({ context }, params: { atMs: number }) => Math.max(context.lastAtMs, params.atMs),
    }),
    noteFailure: assign({
      reason: (_, params: { error: unknown }) => storeReasonOf(params.error),
      probeFailures: 0,
    }),
    countProbeFailure: assign({ probeFailures: ({ context }) => context.probeFailures + 1 }),
    forgetProbeFailures: assign({ probeFailures: 0 }),
    countRestart: assign({
      restartsAtMs: ({ context }) => [
        ...restartsInWindow(context.restartsAtMs, context.lastAtMs),
        context.lastAtMs,
      ],
    }),
  },
}).createMachine({
  id: 'store-process',
  context: ({ input }) => ({
    wasReady: false,
    restartsAtMs: [],
    lastAtMs: input.atMs,
    probeFailures: 0,
    reason: null,
  }),
  initial: 'starting',
  states: {
    starting: {
      description: 'The server starts, or a running orphan of its folder is taken over.',
      invoke: {
        id: 'start',
        src: 'startStore',
        onDone: [
          {
            guard: { type: 'isStarted', params: ({ event }) => ({ outcome: event.output }) },
            target: 'ready',
            actions: { type: 'noteTime', params: ({ event }) => event.output },
          },
          {
            target: 'deciding',
            actions: [
              { type: 'noteTime', params: ({ event }) => event.output },
              {
                type: 'noteFailure',
                params: ({ event }) => ({
                  error: event.output.isStarted ? NO_ANSWER : event.output.reason,
                }),
              },
            ],
          },
        ],
        onError: {
          target: 'deciding',
          actions: { type: 'noteFailure', params: ({ event }) => ({ error: event.error }) },
        },
      },
      after: {
        startTimeoutMs: {
          target: 'deciding',
          actions: [
            {
              type: 'noteTime',
              params: ({ context }) => ({ atMs: context.lastAtMs + STORE_START_TIMEOUT_MS }),
            },
            { type: 'noteFailure', params: { error: 'the start took too long' } },
          ],
        },
      },
      on: { 'store.stop': 'stopping' },
    },
    ready: {
      description: 'It answers; its exit and unanswered probes are noticed.',
      tags: 'usable',
      entry: 'noteReady',
      invoke: {
        id: 'watch',
        src: 'watchStore',
        onDone: {
          target: 'deciding',
          actions: [
            { type: 'noteTime', params: ({ event }) => event.output },
            { type: 'noteFailure', params: ({ event }) => ({ error: event.output.reason }) },
          ],
        },
        onError: {
          target: 'clearing',
          actions: { type: 'noteFailure', params: ({ event }) => ({ error: event.error }) },
        },
      },
      on: {
        'store.exited': {
          target: 'deciding',
          actions: [
            { type: 'noteTime', params: ({ event }) => ({ atMs: event.atMs }) },
            { type: 'noteFailure', params: ({ event }) => ({ error: event.reason }) },
          ],
        },
        'store.stop': 'stopping',
      },
      initial: 'watching',
      states: {
        watching: {
          description: 'Until the next probe is due.',
          after: { probeIntervalMs: 'probing' },
        },
        probing: {
          description: 'A question is on its way; a few unanswered in a row end the process.',
          invoke: {
            id: 'probe',
            src: 'probeStore',
            onDone: [
              {
                guard: { type: 'isAnswering', params: ({ event }) => ({ outcome: event.output }) },
                target: 'watching',
                actions: [
                  'forgetProbeFailures',
                  { type: 'noteTime', params: ({ event }) => event.output },
                ],
              },
              {
                guard: 'isHung',
                target: '#store-process.clearing',
                actions: [
                  { type: 'noteTime', params: ({ event }) => event.output },
                  { type: 'noteFailure', params: { error: NO_ANSWER } },
                ],
              },
              {
                target: 'watching',
                actions: [
                  'countProbeFailure',
                  { type: 'noteTime', params: ({ event }) => event.output },
                ],
              },
            ],
            onError: [
              {
                guard: 'isHung',
                target: '#store-process.clearing',
                actions: { type: 'noteFailure', params: { error: NO_ANSWER } },
              },
              { target: 'watching', actions: 'countProbeFailure' },
            ],
          },
          after: {
            probeTimeoutMs: [
              {
                guard: 'isHung',
                target: '#store-process.clearing',
                actions: { type: 'noteFailure', params: { error: NO_ANSWER } },
              },
              { target: 'watching', actions: 'countProbeFailure' },
            ],
          },
        },
      },
    },
    clearing: {
      description: 'It runs but does not answer: it is ended before the next start.',
      invoke: { id: 'clear', src: 'stopStore', onDone: 'deciding', onError: 'deciding' },
      after: { stopTimeoutMs: 'deciding' },
      on: { 'store.stop': 'stopping' },
    },
    deciding: {
      description: 'Whether the window has room for one more restart.',
      always: [
        { guard: 'mayRestart', target: 'backing-off', actions: 'countRestart' },
        { target: 'failed' },
      ],
    },
    'backing-off': {
      description: 'The wait before the next start; it doubles.',
      after: {
        backoffMs: {
          target: 'starting',
          actions: {
            type: 'noteTime',
            params: ({ context }) => ({
              atMs: context.lastAtMs + restartDelayMs(context.restartsAtMs.length),
            }),
          },
        },
      },
      on: { 'store.stop': 'stopping' },
    },
    failed: {
      description: 'Too many restarts in the window; the reason is in the context.',
      tags: 'given-up',
      on: { 'store.stop': 'stopping' },
    },
    stopping: {
      description: 'The server is asked to finish, then killed.',
      invoke: { id: 'stop', src: 'stopStore', onDone: 'stopped', onError: 'stopped' },
      after: { stopTimeoutMs: 'stopped' },
    },
    stopped: { type: 'final', description: 'Nothing runs.', tags: 'given-up' },
  },
});

export type StoreProcessActorRef = ActorRefFrom<typeof storeProcessMachine>;
export type StoreProcessSnapshot = SnapshotFrom<typeof storeProcessMachine>;
