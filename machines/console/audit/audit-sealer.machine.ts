// The one sealer of the audit log, as each Console runs it; the port lets one of them seal at a time. decision: D35
//   waiting      until the next round is due
//   sealing      unsealed rows get their place and hash; a full batch is followed by another round at once
//   signing      a checkpoint over the head: rows waited long enough for it, or enough of them wait
//   backing-off  the store failed or took too long; the wait doubles
//   stopped      nothing more is asked; what is not sealed is the open tail of the next start
import { type ActorRefFrom, assign, type SnapshotFrom, setup } from 'xstate';
import { AUDIT_SEAL_INTERVAL_MS, AUDIT_SEAL_TIMEOUT_MS } from '../../limits.ts';
import { unprovided, unprovidedActor } from '../../unprovided.ts';
import { isCheckpointDue, isFull, type SealRound, sealRetryMs } from './audit-sealer.rules.ts';

type AuditSealerContext = {
  readonly failures: number;
  /** The last batch was full: another round follows without a wait. */
  readonly hasMore: boolean;
  readonly headSequence: number;
};
export type AuditSealerEvent = { type: 'sealer.stop' };

export const auditSealerMachine = setup({
  types: {
    context: {} as AuditSealerContext,
    events: {} as AuditSealerEvent,
  },
  delays: {
    intervalMs: AUDIT_SEAL_INTERVAL_MS,
    timeoutMs: AUDIT_SEAL_TIMEOUT_MS,
    retryMs: ({ context }) => sealRetryMs(context.failures),
  },
  actors: {
    sealRows: unprovidedActor<SealRound>('sealRows'),
    signHead: unprovidedActor<void>('signHead'),
  },
  guards: {
    isDue: (_, params: { round: SealRound }) => isCheckpointDue(params.round),
    isFull: (_, params: { round: SealRound }) => isFull(params.round),
    hasMore: ({ context }) => context.hasMore,
  },
  actions: {
    noteRound: assign({
      failures: 0,
      hasMore: (_, params: { round: SealRound }) => isFull(params.round),
      headSequence: ({ context }, { round }: { round: SealRound }) =>
        round.isBusy ? context.headSequence : round.headSequence,
    }),
    countFailure: assign({ failures: ({ context }) => context.failures + 1 }),
    tellFailure: unprovided<{ error: unknown }>('tellFailure'),
  },
}).createMachine({
  id: 'audit-sealer',
  context: { failures: 0, hasMore: false, headSequence: 0 },
  initial: 'sealing',
  states: {
    waiting: {
      description: 'Until the next round is due.',
      after: { intervalMs: 'sealing' },
      on: { 'sealer.stop': 'stopped' },
    },
    sealing: {
      description: 'Unsealed rows get their place and hash.',
      invoke: {
        id: 'seal',
        src: 'sealRows',
        onDone: [
          {
            guard: { type: 'isDue', params: ({ event }) => ({ round: event.output }) },
            target: 'signing',
            actions: { type: 'noteRound', params: ({ event }) => ({ round: event.output }) },
          },
          {
            guard: { type: 'isFull', params: ({ event }) => ({ round: event.output }) },
            target: 'sealing',
            reenter: true,
            actions: { type: 'noteRound', params: ({ event }) => ({ round: event.output }) },
          },
          {
            target: 'waiting',
            actions: { type: 'noteRound', params: ({ event }) => ({ round: event.output }) },
          },
        ],
        onError: {
          target: 'backing-off',
          actions: [
            'countFailure',
            { type: 'tellFailure', params: ({ event }) => ({ error: event.error }) },
          ],
        },
      },
      after: {
        timeoutMs: {
          target: 'backing-off',
          actions: [
            'countFailure',
            { type: 'tellFailure', params: { error: 'sealing took too long' } },
          ],
        },
      },
      on: { 'sealer.stop': 'stopped' },
    },
    signing: {
      description: 'A checkpoint over the head is signed, stored and logged.',
      invoke: {
        id: 'sign',
        src: 'signHead',
        onDone: [{ guard: 'hasMore', target: 'sealing' }, { target: 'waiting' }],
        onError: {
          target: 'backing-off',
          actions: [
            'countFailure',
            { type: 'tellFailure', params: ({ event }) => ({ error: event.error }) },
          ],
        },
      },
      after: {
        timeoutMs: {
          target: 'backing-off',
          actions: [
            'countFailure',
            { type: 'tellFailure', params: { error: 'signing took too long' } },
          ],
        },
      },
      on: { 'sealer.stop': 'stopped' },
    },
    'backing-off': {
      description: 'The store failed or took too long; the wait doubles.',
      after: { retryMs: 'sealing' },
      on: { 'sealer.stop': 'stopped' },
    },
    stopped: { type: 'final', description: 'Nothing more is asked.' },
  },
});

export type AuditSealerActorRef = ActorRefFrom<typeof auditSealerMachine>;
export type AuditSealerSnapshot = SnapshotFrom<typeof auditSealerMachine>;
