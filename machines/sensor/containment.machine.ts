// Containment of this node, carried out by its packet filter. An order is on disk before its rules change, so a crash at
// any step leaves a node that knows what was ordered, and never lifts what was not released. decision: D85
//   looking     the wall clock is read, and the order with it decides
//   released    nothing is held back
//   reviewing   the wall clock is read again: an order that was over when it was heard may not be
//   containing  the order is kept on disk, then the rules come into force as one transaction
//   contained   only the Console passes; each look reads the rules back, and puts them back when somebody removed them
//   releasing   the order is kept on disk, then the rules are removed
//   failed      it could not be carried out, and says why; it is tried again
import { type ActorRefFrom, assign, type SnapshotFrom, setup } from 'xstate';
import { unprovidedActor } from '../unprovided.ts';
import type { ContainmentReport } from '../wire/policy.ts';
import {
  type ContainmentState,
  isInForce,
  isNewer,
  mayComeBack,
  type Order,
  untilEndMs,
} from './containment.rules.ts';

export type ContainmentInput = {
  /** The order that was kept; null: there never was one. */
  readonly order: Order | null;
  readonly sinceMs: number;
  /** How often rules that somebody removed were put back. */
  readonly repaired: number;
  /** The rules of that order may have been in force. */
  readonly isCarriedOut: boolean;
  readonly checkMs: number;
};
type ContainmentContext = ContainmentInput & {
  readonly nowMs: number;
  readonly failure: string | null;
  /** What the order left to be done: a kept order is not written again. */
  readonly isKept: boolean;
};
type ContainmentEvent = {
  readonly type: 'order.received';
  readonly order: Order;
  readonly atMs: number;
};
/** What a look at the rules found. */
export type Look = { readonly atMs: number; readonly wasRepaired: boolean };

export const containmentMachine = setup({
  types: {
    context: {} as ContainmentContext,
    events: {} as ContainmentEvent,
    input: {} as ContainmentInput,
    tags: {} as 'settled',
  },
  delays: {
    checkMs: ({ context }) => context.checkMs,
    untilEndMs: ({ context }) => untilEndMs(context.order, context.nowMs),
  },
  actors: {
    readClock: unprovidedActor<number>('readClock'),
    /** Puts the order on disk, then the rules in force; answers the time. */
    applyRules: unprovidedActor<number, { readonly order: Order; readonly isKept: boolean }>(
      'applyRules',
    ),
    checkRules: unprovidedActor<Look>('checkRules'),
    /** Puts the order on disk, then removes the rules; answers the time. */
    liftRules: unprovidedActor<number, { readonly order: Order | null; readonly isKept: boolean }>(
      'liftRules',
    ),
  },
  actions: {
    noteOrder: assign((_, { order, atMs }: { order: Order; atMs: number }) => ({
      order,
      nowMs: atMs,
      sinceMs: atMs,
      isKept: false,
      isCarriedOut: false,
    })),
    noteNow: assign((_, params: { nowMs: number }) => ({ nowMs: params.nowMs })),
    noteDone: assign(({ context }, params: { nowMs: number }) => ({
      nowMs: params.nowMs,
      // After a restart it is still since then.
      sinceMs: context.isKept && context.failure === null ? context.sinceMs : params.nowMs,
      failure: null,
      isKept: true,
      isCarriedOut: true,
    })),
    /** What was carried out and came to its end is over for good, whatever the clock says later. */
    noteEnded: assign(({ context: { order, isCarriedOut } }) =>
      isCarriedOut && mayComeBack(order)
        ? { order: { ...order, hasEnded: true }, isKept: false }
        : {},
    ),
    noteComeBack: assign((_, params: { nowMs: number }) => ({
      nowMs: params.nowMs,
      isKept: false,
    })),
    noteLifted: assign((_, params: { nowMs: number }) => ({
      nowMs: params.nowMs,
      sinceMs: params.nowMs,
      failure: null,
      isKept: true,
    })),
    noteLook: assign(({ context }, { look }: { look: Look }) => ({
      nowMs: look.atMs,
      repaired: context.repaired + (look.wasRepaired ? 1 : 0),
    })),
    noteFailure: assign(({ context }, params: { reason: string }) => ({
      failure: params.reason,
      sinceMs: context.failure === null ? context.nowMs : context.sinceMs,
    })),
  },
  guards: {
    isNewer: ({ context }, { order }: { order: Order }) => isNewer(order, context.order),
    isInForce: ({ context }) => isInForce(context.order, context.nowMs),
    isOver: ({ context }) => !isInForce(context.order, context.nowMs),
    isBefore: ({ context }, { nowMs }: { nowMs: number }) => isInForce(context.order, nowMs),
    mayComeBack: ({ context }) => mayComeBack(context.order),
    isUnordered: ({ context }) => context.order === null,
  },
}).createMachine({
  id: 'containment',
  context: ({ input }) => ({ ...input, nowMs: 0, failure: null, isKept: true }),
  initial: 'looking',
  on: {
    'order.received': {
      guard: { type: 'isNewer', params: ({ event }) => event },
      target: '.deciding',
      actions: { type: 'noteOrder', params: ({ event }) => event },
    },
  },
  states: {
    looking: {
      description: 'The wall clock is read.',
      invoke: {
        id: 'readClock',
        src: 'readClock',
        onDone: {
          target: 'deciding',
          actions: { type: 'noteNow', params: ({ event }) => ({ nowMs: event.output ?? 0 }) },
        },
        // Without a clock an order holds.
        onError: 'deciding',
      },
    },
    deciding: {
      description: 'Transient: the order and the time decide.',
      always: [
        { guard: 'isUnordered', target: 'released' },
        { guard: 'isInForce', target: 'containing' },
        { target: 'releasing' },
      ],
    },
    released: {
      description: 'Nothing is held back.',
      tags: 'settled',
      after: { checkMs: { guard: 'mayComeBack', target: 'reviewing' } },
    },
    reviewing: {
      description:
        'An order was over when it was heard; the clock may have been wrong, and is read.',
      invoke: {
        id: 'readClock',
        src: 'readClock',
        onDone: [
          {
            guard: { type: 'isBefore', params: ({ event }) => ({ nowMs: event.output ?? 0 }) },
            target: 'containing',
            actions: {
              type: 'noteComeBack',
              params: ({ event }) => ({ nowMs: event.output ?? 0 }),
            },
          },
          { target: 'released' },
        ],
        onError: 'released',
      },
    },
    containing: {
      description: 'The order is kept on disk, then the rules come into force.',
      invoke: {
        id: 'applyRules',
        src: 'applyRules',
        input: ({ context }) => ({
          order: context.order ?? NO_ORDER,
          isKept: context.isKept,
        }),
        onDone: {
          target: 'contained',
          actions: { type: 'noteDone', params: ({ event }) => ({ nowMs: event.output ?? 0 }) },
        },
        onError: {
          target: 'failed',
          actions: {
            type: 'noteFailure',
            params: ({ event }) => ({ reason: messageOf(event.error) }),
          },
        },
      },
    },
    contained: {
      description: 'Only the Console passes.',
      tags: 'settled',
      initial: 'holding',
      states: {
        holding: {
          description: 'The rules are in force.',
          always: { guard: 'isOver', target: '#containment.releasing' },
          after: {
            checkMs: 'checking',
            untilEndMs: 'ending',
          },
        },
        ending: {
          description: 'The order may be over: the wall clock, which may have been set, is read.',
          invoke: {
            id: 'readClock',
            src: 'readClock',
            onDone: {
              target: 'holding',
              actions: { type: 'noteNow', params: ({ event }) => ({ nowMs: event.output ?? 0 }) },
            },
            onError: 'holding',
          },
        },
        checking: {
          description: 'The rules are read back.',
          invoke: {
            id: 'checkRules',
            src: 'checkRules',
            onDone: {
              target: 'holding',
              actions: {
                type: 'noteLook',
                params: ({ context, event }) => ({
                  look: event.output ?? { atMs: context.nowMs, wasRepaired: false },
                }),
              },
            },
            onError: {
              target: '#containment.failed',
              actions: {
                type: 'noteFailure',
                params: ({ event }) => ({ reason: messageOf(event.error) }),
              },
            },
          },
        },
      },
    },
    releasing: {
      description: 'The order is kept on disk, then the rules are removed.',
      entry: 'noteEnded',
      invoke: {
        id: 'liftRules',
        src: 'liftRules',
        input: ({ context }) => ({ order: context.order, isKept: context.isKept }),
        onDone: {
          target: 'released',
          actions: { type: 'noteLifted', params: ({ event }) => ({ nowMs: event.output ?? 0 }) },
        },
        onError: {
          target: 'failed',
          actions: {
            type: 'noteFailure',
            params: ({ event }) => ({ reason: messageOf(event.error) }),
          },
        },
      },
    },
    failed: {
      description: 'It could not be carried out; it is tried again.',
      tags: 'settled',
      after: { checkMs: 'looking' },
    },
  },
});

// `containing` is entered with an order only; this stands for the case that cannot be.
const NO_ORDER: Order = { orderId: '', wanted: 'released', reason: '', untilMs: null };
const FAILURE_MAX_CHARS = 512;

/** What a heartbeat says of it. */
export function containmentReportOf(snapshot: ContainmentSnapshot): ContainmentReport {
  const { order, sinceMs, failure, repaired } = snapshot.context;
  const state = stateOf(snapshot);
  return {
    ...(order === null ? {} : { order_id: order.orderId }),
    state,
    since: new Date(sinceMs).toISOString(),
    ...(state === 'contained' ? { method: 'nftables' } : {}),
    ...(failure === null ? {} : { failure: failure.slice(0, FAILURE_MAX_CHARS) }),
    ...(repaired === 0 ? {} : { repaired }),
  };
}

/** The state in the wire's word. */
export function stateOf({ value, context }: ContainmentSnapshot): ContainmentState {
  if (typeof value === 'object') return 'contained';
  if (value === 'released') return context.failure === null ? 'released' : 'failed';
  // A try after a failure is told as what it was until it is better.
  if (context.failure !== null || value === 'failed') return 'failed';
  if (value === 'releasing') return 'releasing';
  if (value === 'containing') return 'containing';
  return isInForce(context.order, context.nowMs) ? 'containing' : 'released';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export type ContainmentActorRef = ActorRefFrom<typeof containmentMachine>;
export type ContainmentSnapshot = SnapshotFrom<typeof containmentMachine>;
