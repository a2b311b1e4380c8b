// The spool's life: what is held (the context) and whether the disk takes more. After any refusal of the disk the
// journal is opened and read anew, the same way as after a crash, so there is one path to trust. decision: D13
//   recovering  the journal is opened, cut back to its last whole append and replayed
//   open.ready  appends and claims are served
//   open.full   the same at the cap: every further event drops the oldest, counted. invariant: I5
//   failing     the disk refused; calls are refused until the next try, 1 s to 30 s apart, doubling
//   closed      final
import { type ActorRefFrom, assign, type SnapshotFrom, setup } from 'xstate';
import { unprovidedActor } from '../unprovided.ts';
import {
  applyChanges,
  depth,
  EMPTY_SPOOL,
  type SpoolChange,
  type SpoolState,
} from './spool.rules.ts';

export type SpoolInput = {
  readonly eventsMax: number;
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
};
export type SpoolContext = SpoolInput & { readonly spool: SpoolState; readonly failures: number };
export type SpoolEvent =
  /** Changes that are in the journal now. */
  | { readonly type: 'journal.changed'; readonly changes: readonly SpoolChange[] }
  | { readonly type: 'disk.refused' }
  | { readonly type: 'spool.close' };
export type RecoveredSpool = { readonly spool: SpoolState };

/** The wait before the next try: doubling from the least to the most. */
export function spoolRetryMs(failures: number, minMs: number, maxMs: number): number {
  return Math.min(maxMs, minMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
}

export const spoolMachine = setup({
  types: {
    context: {} as SpoolContext,
    events: {} as SpoolEvent,
    input: {} as SpoolInput,
    tags: {} as 'serves',
  },
  actors: { recoverJournal: unprovidedActor<RecoveredSpool>('recoverJournal') },
  guards: {
    isFull: ({ context }) => depth(context.spool) >= context.eventsMax,
    isBelow: ({ context }) => depth(context.spool) < context.eventsMax,
  },
  delays: {
    retryMs: ({ context }) =>
      spoolRetryMs(context.failures, context.retryMinMs, context.retryMaxMs),
  },
  actions: {
    adopt: assign((_, params: RecoveredSpool) => ({ spool: params.spool })),
    apply: assign(({ context }, params: { readonly changes: readonly SpoolChange[] }) => ({
      spool: applyChanges(context.spool, params.changes),
      failures: 0,
    })),
    countFailure: assign({ failures: ({ context }) => context.failures + 1 }),
  },
}).createMachine({
  id: 'spool',
  context: ({ input }) => ({ ...input, spool: EMPTY_SPOOL, failures: 0 }),
  initial: 'recovering',
  on: { 'spool.close': '.closed' },
  states: {
    recovering: {
      description: 'The journal is opened, cut back to its last whole append and replayed.',
      invoke: {
        src: 'recoverJournal',
        onDone: {
          target: 'open',
          actions: { type: 'adopt', params: ({ event }) => event.output },
        },
        onError: 'failing',
      },
    },
    open: {
      tags: 'serves',
      initial: 'ready',
      on: {
        'journal.changed': {
          actions: { type: 'apply', params: ({ event }) => ({ changes: event.changes }) },
        },
        'disk.refused': 'failing',
      },
      states: {
        ready: {
          description: 'Appends and claims are served.',
          always: { guard: 'isFull', target: 'full' },
        },
        full: {
          description: 'At the cap: every further event drops the oldest, counted.',
          always: { guard: 'isBelow', target: 'ready' },
        },
      },
    },
    failing: {
      description: 'The disk refused; the next try waits.',
      entry: 'countFailure',
      after: { retryMs: 'recovering' },
    },
    closed: { type: 'final', description: 'The file is let go.' },
  },
});
export type SpoolActorRef = ActorRefFrom<typeof spoolMachine>;
export type SpoolSnapshot = SnapshotFrom<typeof spoolMachine>;
