// One exercise: people do harmless steps on nodes by hand, and it is told how much of it was seen, and how fast. The
// Console runs nothing on a node.
//   planned    its window did not begin
//   running    steps are done; what is seen is counted while it goes on
//   settling   its window is over; what is still on its way has some time to arrive
//   scored     it has its result
//   abandoned  somebody gave it up; it has none
// invariant: I8; decision: D146
import { assign, type SnapshotFrom, setup } from 'xstate';
import { EXERCISE_SETTLE_MS } from './limits.ts';

export type ExerciseContext = {
  readonly windowMs: number;
  readonly startedAtMs: number | null;
  /** When its window ends, or ended. */
  readonly endsAtMs: number | null;
  readonly scoredAtMs: number | null;
};
export type ExerciseInput = { readonly windowMs: number };
export type ExerciseEvent =
  | { type: 'exercise.started'; atMs: number }
  /** Somebody is done before its window is over. */
  | { type: 'exercise.ended'; atMs: number }
  | { type: 'exercise.looked_at'; atMs: number }
  | { type: 'exercise.scored'; atMs: number }
  | { type: 'exercise.abandoned' };

type At = { readonly atMs: number };

export const exerciseMachine = setup({
  types: {
    context: {} as ExerciseContext,
    events: {} as ExerciseEvent,
    input: {} as ExerciseInput,
  },
  guards: {
    isOver: ({ context }, { atMs }: At) => context.endsAtMs !== null && atMs >= context.endsAtMs,
    isSettled: ({ context }, { atMs }: At) =>
      context.endsAtMs !== null && atMs >= context.endsAtMs + EXERCISE_SETTLE_MS,
  },
  actions: {
    begin: assign(({ context }, { atMs }: At) => ({
      ...{ startedAtMs: atMs, endsAtMs: atMs + context.windowMs },
    })),
    endNow: assign(({ context }, { atMs }: At) => ({
      endsAtMs: Math.max(context.startedAtMs ?? 0, Math.min(context.endsAtMs ?? atMs, atMs)),
    })),
    noteScored: assign({ scoredAtMs: (_, { atMs }: At) => atMs }),
  },
}).createMachine({
  id: 'exercise',
  context: ({ input }) => ({
    ...{ windowMs: input.windowMs, startedAtMs: null, endsAtMs: null, scoredAtMs: null },
  }),
  initial: 'planned',
  states: {
    planned: {
      description: 'Its window did not begin.',
      on: {
        'exercise.started': {
          target: 'running',
          actions: { type: 'begin', params: ({ event }) => event },
        },
        'exercise.abandoned': 'abandoned',
      },
    },
    running: {
      description: 'Steps are done; what is seen is counted while it goes on.',
      on: {
        'exercise.ended': {
          target: 'settling',
          actions: { type: 'endNow', params: ({ event }) => event },
        },
        'exercise.looked_at': {
          guard: { type: 'isOver', params: ({ event }) => event },
          target: 'settling',
        },
        'exercise.abandoned': 'abandoned',
      },
    },
    settling: {
      description: 'Its window is over; what is still on its way has some time to arrive.',
      on: {
        'exercise.scored': {
          guard: { type: 'isSettled', params: ({ event }) => event },
          target: 'scored',
          actions: { type: 'noteScored', params: ({ event }) => event },
        },
        'exercise.abandoned': 'abandoned',
      },
    },
    scored: { description: 'It has its result.' },
    abandoned: { description: 'Somebody gave it up; it has no result.' },
  },
});

export type ExerciseSnapshot = SnapshotFrom<typeof exerciseMachine>;
export type ExerciseState = 'planned' | 'running' | 'settling' | 'scored' | 'abandoned';
