// The first run of a Console that has no configuration: somebody shows the code of the terminal, answers the steps, and the
// configuration is written as a whole; then the process starts again. What was answered before a crash is given back as
// input, so that only the code is asked for again. decision: D42
//   awaiting_code  nobody has shown the code: no step is taken
//   deciding       transient: the steps that are done decide at once
//   platform ... admin  the needed step that is asked for next; any allowed step may be answered meanwhile
//   ready          every needed step is done; optional ones may still be answered
//   writing        the configuration is being written; nothing is taken any more
//   restarting     it is written: the process ends and starts again (final)
import { type ActorRefFrom, assign, type SnapshotFrom, setup } from 'xstate';
import { unprovidedActor } from '../../unprovided.ts';
import { reasonOf } from '../runtime/startup.rules.ts';
import {
  mayDo,
  mayUndo,
  nextStep,
  SETUP_STEPS,
  type SetupStep,
  soundSteps,
} from './setup.rules.ts';

export type SetupContext = {
  readonly done: readonly SetupStep[];
  /** Why the last writing failed. */
  readonly reason: string | null;
};
export type SetupEvent =
  | { type: 'code.accepted' }
  | { type: 'step.done'; step: SetupStep }
  | { type: 'step.undone'; step: SetupStep }
  | { type: 'finish.requested' };
/** The steps that were done before a crash. */
export type SetupInput = { readonly done: readonly SetupStep[] };

const machine = setup({
  types: {
    context: {} as SetupContext,
    events: {} as SetupEvent,
    input: {} as SetupInput,
    tags: {} as 'takes-steps' | 'can-finish',
  },
  actors: { writeConfiguration: unprovidedActor<undefined>('writeConfiguration') },
  guards: {
    isAllowed: ({ context }, params: { step: SetupStep }) => mayDo(params.step, context.done),
    isOptional: (_, params: { step: SetupStep }) => mayUndo(params.step),
    isPlatformMissing: ({ context }) => nextStep(context.done) === 'platform',
    isDatabaseMissing: ({ context }) => nextStep(context.done) === 'database',
    isAnalyticsMissing: ({ context }) => nextStep(context.done) === 'analytics',
    isAdminMissing: ({ context }) => nextStep(context.done) === 'admin',
  },
  actions: {
    noteDone: assign({
      done: ({ context }, params: { step: SetupStep }) =>
        SETUP_STEPS.filter((step) => step === params.step || context.done.includes(step)),
    }),
    noteUndone: assign({
      done: ({ context }, params: { step: SetupStep }) =>
        context.done.filter((step) => step !== params.step),
    }),
    forgetReason: assign({ reason: null }),
    noteReason: assign({ reason: (_, params: { error: unknown }) => reasonOf(params.error) }),
  },
});

// Every state in which answers are taken has the same shape: an answer leads back to deciding.
function asking(description: string) {
  return machine.createStateConfig({
    description,
    tags: 'takes-steps',
    on: {
      'step.done': {
        guard: { type: 'isAllowed', params: ({ event }) => event },
        target: 'deciding',
        actions: { type: 'noteDone', params: ({ event }) => event },
      },
      'step.undone': {
        guard: { type: 'isOptional', params: ({ event }) => event },
        target: 'deciding',
        actions: { type: 'noteUndone', params: ({ event }) => event },
      },
    },
  });
}

export const setupMachine = machine.createMachine({
  id: 'setup',
  context: ({ input }) => ({ done: soundSteps(input.done), reason: null }),
  initial: 'awaiting_code',
  states: {
    awaiting_code: {
      description: 'Nobody has shown the code of the terminal.',
      on: { 'code.accepted': 'deciding' },
    },
    deciding: {
      description: 'Transient: the steps that are done decide at once.',
      always: [
        { guard: 'isPlatformMissing', target: 'platform' },
        { guard: 'isDatabaseMissing', target: 'database' },
        { guard: 'isAnalyticsMissing', target: 'analytics' },
        { guard: 'isAdminMissing', target: 'admin' },
        { target: 'ready' },
      ],
    },
    platform: asking('Which platform is watched is asked for.'),
    database: asking('Where the relational database is, is asked for.'),
    analytics: asking('Where the analytics store is, is asked for.'),
    admin: asking('Who the first administrator is, is asked for.'),
    ready: {
      description: 'Every needed step is done; optional ones may still be answered.',
      tags: ['takes-steps', 'can-finish'],
      on: {
        'step.done': {
          guard: { type: 'isAllowed', params: ({ event }) => event },
          target: 'deciding',
          actions: { type: 'noteDone', params: ({ event }) => event },
        },
        'step.undone': {
          guard: { type: 'isOptional', params: ({ event }) => event },
          target: 'deciding',
          actions: { type: 'noteUndone', params: ({ event }) => event },
        },
        'finish.requested': { target: 'writing', actions: 'forgetReason' },
      },
    },
    writing: {
      description: 'The configuration is being written; nothing is taken any more.',
      invoke: {
        id: 'writeConfiguration',
        src: 'writeConfiguration',
        onDone: 'restarting',
        onError: {
          target: 'ready',
          actions: { type: 'noteReason', params: ({ event }) => event },
        },
      },
    },
    restarting: {
      type: 'final',
      description: 'The configuration is written: the process ends and starts again.',
    },
  },
});
export type SetupActorRef = ActorRefFrom<typeof setupMachine>;
export type SetupSnapshot = SnapshotFrom<typeof setupMachine>;
