// One periodic loop of the Console. It runs while it is on duty: loops of the process from the start to the stop, designated
// ones while their Console is designated. A run that is told to end is waited for, so two never overlap; a run that is asked
// for meanwhile follows at once. decision: D60
//   off_duty          another Console runs it, or nobody does
//   waiting           until the next run is due
//   running.in_time   a run is under way
//   running.overdue   it took too long and was told to end; the next one waits for it
//   running.leaving   duty ended meanwhile: it was told to end, and no other follows
//   stopped           nothing more is run
import { type ActorRefFrom, assign, type SnapshotFrom, setup, stateIn } from 'xstate';
import { unprovided, unprovidedActor } from '../../unprovided.ts';
import { type LastRun, type LoopOutcome, type LoopPlace, loopDelayMs } from './loop.rules.ts';

export type LoopInput = {
  readonly name: string;
  readonly runsOn: LoopPlace;
  readonly everyMs: number;
  readonly timeoutMs: number;
};
type LoopContext = LoopInput & {
  /** Runs that ended, and how many of them failed. */
  readonly runs: number;
  readonly failedRuns: number;
  /** Failures in a row. */
  readonly failures: number;
  readonly lastRun: LastRun | null;
  readonly nextInMs: number;
  readonly nextAtMs: number | null;
  /** Somebody asked for a run while one was under way, which may have looked before there was anything to find. */
  readonly isWanted: boolean;
};
export type LoopEvent =
  | { type: 'loop.on_duty' }
  | { type: 'loop.off_duty' }
  | { type: 'loop.run_now' }
  | { type: 'loop.stop' };

export const loopMachine = setup({
  types: {
    context: {} as LoopContext,
    input: {} as LoopInput,
    events: {} as LoopEvent,
    tags: {} as 'on-duty' | 'running',
  },
  delays: {
    nextInMs: ({ context }) => context.nextInMs,
    timeoutMs: ({ context }) => context.timeoutMs,
  },
  actors: { runOnce: unprovidedActor<LoopOutcome>('runOnce') },
  guards: { isLeaving: stateIn({ running: 'leaving' }) },
  actions: {
    noteRun: assign(({ context }, { outcome }: { outcome: LoopOutcome }) => {
      const { hasMore: hasRest, ...lastRun } = outcome;
      const hasMore = hasRest || context.isWanted;
      const isFailed = outcome.failure !== null;
      const failures = isFailed ? context.failures + 1 : 0;
      const nextInMs = loopDelayMs({ everyMs: context.everyMs, failures, hasMore });
      return {
        runs: context.runs + 1,
        failedRuns: context.failedRuns + (isFailed ? 1 : 0),
        failures,
        lastRun,
        nextInMs,
        nextAtMs: outcome.endedAtMs + nextInMs,
        isWanted: false,
      };
    }),
    // A runner that broke says neither when nor why in its own words; the next run is tried like after any failure.
    noteBroken: assign(({ context }) => {
      const failures = context.failures + 1;
      return {
        runs: context.runs + 1,
        failedRuns: context.failedRuns + 1,
        failures,
        nextInMs: loopDelayMs({ everyMs: context.everyMs, failures, hasMore: false }),
        nextAtMs: null,
        isWanted: false,
      };
    }),
    noteWanted: assign({ isWanted: true }),
    // Whoever takes duty over runs at once: how long the one before was silent is not known.
    forgetPlan: assign({ nextInMs: 0, nextAtMs: null }),
    tellRun: unprovided<{ outcome: LoopOutcome }>('tellRun'),
    tellBroken: unprovided<{ error: unknown }>('tellBroken'),
    abortRun: unprovided<{ reason: string }>('abortRun'),
  },
}).createMachine({
  id: 'loop',
  context: ({ input }) => ({
    ...input,
    runs: 0,
    failedRuns: 0,
    failures: 0,
    lastRun: null,
    nextInMs: 0,
    nextAtMs: null,
    isWanted: false,
  }),
  initial: 'off_duty',
  states: {
    off_duty: {
      description: 'Another Console runs it, or nobody does.',
      entry: 'forgetPlan',
      on: { 'loop.on_duty': 'waiting', 'loop.stop': 'stopped' },
    },
    waiting: {
      description: 'Until the next run is due.',
      tags: 'on-duty',
      after: { nextInMs: 'running' },
      on: { 'loop.run_now': 'running', 'loop.off_duty': 'off_duty', 'loop.stop': 'stopped' },
    },
    running: {
      description: 'A run is under way.',
      tags: 'running',
      initial: 'in_time',
      invoke: {
        id: 'run',
        src: 'runOnce',
        onDone: [
          {
            guard: 'isLeaving',
            target: 'off_duty',
            actions: [
              { type: 'noteRun', params: ({ event }) => ({ outcome: event.output }) },
              { type: 'tellRun', params: ({ event }) => ({ outcome: event.output }) },
            ],
          },
          {
            target: 'waiting',
            actions: [
              { type: 'noteRun', params: ({ event }) => ({ outcome: event.output }) },
              { type: 'tellRun', params: ({ event }) => ({ outcome: event.output }) },
            ],
          },
        ],
        onError: [
          {
            guard: 'isLeaving',
            target: 'off_duty',
            actions: [
              'noteBroken',
              { type: 'tellBroken', params: ({ event }) => ({ error: event.error }) },
            ],
          },
          {
            target: 'waiting',
            actions: [
              'noteBroken',
              { type: 'tellBroken', params: ({ event }) => ({ error: event.error }) },
            ],
          },
        ],
      },
      on: { 'loop.run_now': { actions: 'noteWanted' }, 'loop.stop': 'stopped' },
      states: {
        in_time: {
          description: 'It began not long ago.',
          tags: 'on-duty',
          after: {
            timeoutMs: {
              target: 'overdue',
              actions: { type: 'abortRun', params: { reason: 'it took too long' } },
            },
          },
          on: {
            'loop.off_duty': {
              target: 'leaving',
              actions: { type: 'abortRun', params: { reason: 'duty ended' } },
            },
          },
        },
        overdue: {
          description: 'It was told to end; the next run waits for it.',
          tags: 'on-duty',
          on: { 'loop.off_duty': 'leaving' },
        },
        leaving: {
          description: 'It was told to end, and no other follows.',
          on: { 'loop.on_duty': 'overdue' },
        },
      },
    },
    stopped: { type: 'final', description: 'Nothing more is run.' },
  },
});

export type LoopActorRef = ActorRefFrom<typeof loopMachine>;
export type LoopSnapshot = SnapshotFrom<typeof loopMachine>;
