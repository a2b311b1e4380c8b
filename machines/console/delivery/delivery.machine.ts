// One alert on its way to one destination. Its row is the job: the machine decides, the row holds what it decided, and the
// Console that is designated moves it. A crash leaves it where its row says, which is due again once the lease is over.
//   waiting    for its time; what came before failed, or nothing was tried yet
//   sending    an attempt is under way, under the lease of one tenure
//   delivered  the receiver accepted it
//   folded     a newer alert of the same key carries it
//   dead       refused for good, tried for 24 hours, or pushed out by too many others
// Nothing is final: an operator may have what was delivered or is dead sent again.
// invariant: I8; decision: D101
import { assign, type SnapshotFrom, setup } from 'xstate';
import { type AttemptOutcome, giveUpAtMs, retryDelayMs, verdictOf } from './delivery.rules.ts';

export type DeliveryContext = {
  /** When it is to be tried; what it was last while nothing waits. */
  readonly dueAtMs: number;
  readonly attempts: number;
  readonly giveUpAtMs: number;
  readonly endedAtMs: number | null;
  /** Why it is dead. */
  readonly reason: string | null;
  readonly foldedInto: string | null;
};
export type DeliveryInput = {
  readonly nowMs: number;
  /** When it may first be tried; at once when absent. */
  readonly dueAtMs?: number | undefined;
};
export type DeliveryEvent =
  | { type: 'delivery.claimed'; atMs: number }
  | { type: 'attempt.ended'; atMs: number; outcome: AttemptOutcome; chance: number }
  /** The Console that tried is gone; whether the receiver got it nobody knows. */
  | { type: 'attempt.lost'; atMs: number }
  | { type: 'delivery.folded'; atMs: number; into: string }
  | { type: 'delivery.dropped'; atMs: number }
  /** The breaker of its destination closed: nothing keeps it from being tried. */
  | { type: 'destination.recovered'; atMs: number }
  | { type: 'delivery.replayed'; atMs: number };

export const deliveryMachine = setup({
  types: {
    context: {} as DeliveryContext,
    events: {} as DeliveryEvent,
    input: {} as DeliveryInput,
    tags: {} as 'ended',
  },
  guards: {
    isAccepted: (_, params: { outcome: AttemptOutcome }) =>
      verdictOf(params.outcome) === 'accepted',
    isRefused: (_, params: { outcome: AttemptOutcome }) => verdictOf(params.outcome) === 'refused',
    // What waits for its first time waits for the end of quiet hours.
    wasTried: ({ context }) => context.attempts > 0,
    isTooLate: ({ context }, params: { atMs: number }) => params.atMs >= context.giveUpAtMs,
  },
  actions: {
    countAttempt: assign({ attempts: ({ context }) => context.attempts + 1 }),
    planRetry: assign({
      dueAtMs: (
        { context: { attempts } },
        params: { atMs: number; outcome: AttemptOutcome; chance: number },
      ) => {
        const { outcome, chance } = params;
        const retryAfterMs = outcome.kind === 'answered' ? outcome.retryAfterMs : null;
        return params.atMs + retryDelayMs({ attempts, chance, retryAfterMs });
      },
    }),
    hasten: assign({
      dueAtMs: ({ context }, params: { atMs: number }) => Math.min(context.dueAtMs, params.atMs),
    }),
    noteEnd: assign((_, params: { atMs: number; reason: string | null }) => ({
      endedAtMs: params.atMs,
      reason: params.reason,
    })),
    noteFold: assign({ foldedInto: (_, params: { into: string }) => params.into }),
    beginAnew: assign((_, params: { atMs: number }) => ({
      dueAtMs: params.atMs,
      giveUpAtMs: giveUpAtMs(params.atMs),
      endedAtMs: null,
      reason: null,
    })),
  },
}).createMachine({
  id: 'delivery',
  context: ({ input: { nowMs, dueAtMs = nowMs } }) => ({
    dueAtMs,
    attempts: 0,
    giveUpAtMs: giveUpAtMs(dueAtMs),
    endedAtMs: null,
    reason: null,
    foldedInto: null,
  }),
  initial: 'waiting',
  states: {
    waiting: {
      description: 'For its time: what came before failed, or nothing was tried yet.',
      on: {
        'delivery.claimed': { target: 'sending', actions: 'countAttempt' },
        'delivery.folded': {
          target: 'folded',
          actions: [
            { type: 'noteEnd', params: ({ event }) => ({ atMs: event.atMs, reason: null }) },
            { type: 'noteFold', params: ({ event }) => event },
          ],
        },
        'delivery.dropped': {
          target: 'dead',
          actions: {
            type: 'noteEnd',
            params: ({ event }) => ({ atMs: event.atMs, reason: 'queue_full' }),
          },
        },
        'destination.recovered': {
          guard: 'wasTried',
          actions: { type: 'hasten', params: ({ event }) => event },
        },
      },
    },
    sending: {
      description: 'An attempt is under way, under the lease of one tenure.',
      on: {
        'attempt.ended': [
          {
            guard: { type: 'isAccepted', params: ({ event }) => event },
            target: 'delivered',
            actions: {
              type: 'noteEnd',
              params: ({ event }) => ({ atMs: event.atMs, reason: null }),
            },
          },
          {
            guard: { type: 'isRefused', params: ({ event }) => event },
            target: 'dead',
            actions: {
              type: 'noteEnd',
              params: ({ event }) => ({ atMs: event.atMs, reason: 'refused' }),
            },
          },
          {
            guard: { type: 'isTooLate', params: ({ event }) => event },
            target: 'dead',
            actions: {
              type: 'noteEnd',
              params: ({ event }) => ({ atMs: event.atMs, reason: 'tried_too_long' }),
            },
          },
          { target: 'waiting', actions: { type: 'planRetry', params: ({ event }) => event } },
        ],
        'attempt.lost': {
          target: 'waiting',
          actions: { type: 'hasten', params: ({ event }) => event },
        },
      },
    },
    delivered: {
      description: 'The receiver accepted it.',
      tags: 'ended',
      on: {
        'delivery.replayed': {
          target: 'waiting',
          actions: { type: 'beginAnew', params: ({ event }) => event },
        },
      },
    },
    folded: { description: 'A newer alert of the same key carries it.', tags: 'ended' },
    dead: {
      description: 'Refused for good, tried for 24 hours, or pushed out by too many others.',
      tags: 'ended',
      on: {
        'delivery.replayed': {
          target: 'waiting',
          actions: { type: 'beginAnew', params: ({ event }) => event },
        },
      },
    },
  },
});

export type DeliverySnapshot = SnapshotFrom<typeof deliveryMachine>;
export type DeliveryStateName = 'waiting' | 'sending' | 'delivered' | 'folded' | 'dead';
