// Whether this Console is the designated one, which runs the loops that may run once in the whole fleet. Who holds the
// database's lock is; every tenure has an epoch of its own, which fences what is written under it. decision: D60
//   standing             the lock is tried
//   waiting              another Console holds it, or the database is away; tried again every second
//   designated.proven    the lock is held, as of the last answer
//   designated.proving   the database is asked whether it still is; no answer in time ends the tenure
//   stopped              nothing more is tried, and the lock is let go
import { type ActorRefFrom, assign, setup } from 'xstate';
import { unprovided, unprovidedActor } from '../../unprovided.ts';
import {
  DESIGNATION_ANSWER_MS,
  DESIGNATION_PROVE_MS,
  DESIGNATION_STAND_TIMEOUT_MS,
  DESIGNATION_TRY_MS,
} from './loop-limits.ts';

type DesignationContext = {
  /** Of the tenure that runs, or of the last one. */
  readonly epoch: number | null;
  /** How often this Console became the designated one. */
  readonly tenures: number;
};
export type DesignationEvent = { type: 'lock.lost'; reason: string } | { type: 'designation.stop' };

const NO_ANSWER = 'the database did not answer in time';

export const designationMachine = setup({
  types: {
    context: {} as DesignationContext,
    events: {} as DesignationEvent,
    tags: {} as 'designated',
  },
  delays: {
    tryMs: DESIGNATION_TRY_MS,
    standTimeoutMs: DESIGNATION_STAND_TIMEOUT_MS,
    proveMs: DESIGNATION_PROVE_MS,
    answerMs: DESIGNATION_ANSWER_MS,
  },
  actors: {
    /** The epoch of the new tenure; null while another Console holds the lock. */
    stand: unprovidedActor<number | null>('stand'),
    prove: unprovidedActor<void>('prove'),
  },
  guards: { isMine: (_, params: { epoch: number | null }) => params.epoch !== null },
  actions: {
    noteTenure: assign({
      epoch: (_, params: { epoch: number | null }) => params.epoch,
      tenures: ({ context }) => context.tenures + 1,
    }),
    beginDuty: unprovided('beginDuty'),
    endDuty: unprovided('endDuty'),
    tellLost: unprovided<{ reason: string }>('tellLost'),
    tellUnavailable: unprovided<{ error: unknown }>('tellUnavailable'),
  },
}).createMachine({
  id: 'designation',
  context: { epoch: null, tenures: 0 },
  initial: 'standing',
  states: {
    standing: {
      description: 'The lock is tried.',
      invoke: {
        id: 'stand',
        src: 'stand',
        onDone: [
          {
            guard: { type: 'isMine', params: ({ event }) => ({ epoch: event.output }) },
            target: 'designated',
            actions: { type: 'noteTenure', params: ({ event }) => ({ epoch: event.output }) },
          },
          { target: 'waiting' },
        ],
        onError: {
          target: 'waiting',
          actions: { type: 'tellUnavailable', params: ({ event }) => ({ error: event.error }) },
        },
      },
      after: {
        standTimeoutMs: {
          target: 'waiting',
          actions: { type: 'tellUnavailable', params: { error: NO_ANSWER } },
        },
      },
      on: { 'lock.lost': {}, 'designation.stop': 'stopped' },
    },
    waiting: {
      description: 'Another Console holds the lock, or the database is away.',
      after: { tryMs: 'standing' },
      on: { 'lock.lost': {}, 'designation.stop': 'stopped' },
    },
    designated: {
      description: 'The lock is held.',
      tags: 'designated',
      entry: 'beginDuty',
      exit: 'endDuty',
      initial: 'proven',
      on: {
        'lock.lost': {
          target: 'waiting',
          actions: { type: 'tellLost', params: ({ event }) => ({ reason: event.reason }) },
        },
        'designation.stop': 'stopped',
      },
      states: {
        proven: {
          description: 'As of the last answer.',
          after: { proveMs: 'proving' },
        },
        proving: {
          description: 'The database is asked whether it still is.',
          invoke: {
            id: 'prove',
            src: 'prove',
            onDone: 'proven',
            onError: {
              target: '#designation.waiting',
              actions: {
                type: 'tellLost',
                params: ({ event }) => ({ reason: String(event.error) }),
              },
            },
          },
          after: {
            answerMs: {
              target: '#designation.waiting',
              actions: { type: 'tellLost', params: { reason: NO_ANSWER } },
            },
          },
        },
      },
    },
    stopped: { type: 'final', description: 'Nothing more is tried, and the lock is let go.' },
  },
});

export type DesignationActorRef = ActorRefFrom<typeof designationMachine>;
