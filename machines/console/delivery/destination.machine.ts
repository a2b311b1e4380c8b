// The breaker of one destination: whether deliveries may be tried there now. It keeps a destination that fails from being
// asked again and again, and one that came back from being flooded by a probe of many.
//   closed   deliveries are tried as they come
//   open     it failed several times in a row; nothing is tried before its time
//   probing  one delivery is tried; what comes of it decides
// invariant: I8; decision: D102
import { assign, type SnapshotFrom, setup } from 'xstate';
import { opensForMs } from './destination.rules.ts';
import { BREAKER_FAILURES_MAX } from './limits.ts';

export type DestinationContext = {
  /** Attempts that failed since the last one that was answered for good. */
  readonly failures: number;
  /** How often it opened since then. */
  readonly openings: number;
  readonly openUntilMs: number;
  readonly lastAcceptedAtMs: number | null;
  readonly lastFailedAtMs: number | null;
  readonly lastFailure: string | null;
};
export type DestinationEvent =
  | { type: 'attempt.accepted'; atMs: number }
  /** It answered that it will never take this one: it works, and nothing arrived. */
  | { type: 'attempt.refused'; atMs: number; failure: string }
  | { type: 'attempt.failed'; atMs: number; failure: string }
  /** Its time to be open is over. */
  | { type: 'probe.due'; atMs: number }
  | { type: 'breaker.reset' };

export const UNTRIED: DestinationContext = {
  failures: 0,
  openings: 0,
  openUntilMs: 0,
  lastAcceptedAtMs: null,
  lastFailedAtMs: null,
  lastFailure: null,
};

export const destinationMachine = setup({
  types: { context: {} as DestinationContext, events: {} as DestinationEvent },
  guards: {
    isLastStraw: ({ context }) => context.failures + 1 >= BREAKER_FAILURES_MAX,
    isTime: ({ context }, params: { atMs: number }) => params.atMs >= context.openUntilMs,
  },
  actions: {
    noteAccepted: assign(({ context }, params: { atMs: number }) => ({
      ...context,
      failures: 0,
      openings: 0,
      openUntilMs: 0,
      lastAcceptedAtMs: params.atMs,
    })),
    noteRefused: assign(({ context }, params: { atMs: number; failure: string }) => ({
      ...context,
      failures: 0,
      openings: 0,
      openUntilMs: 0,
      lastFailedAtMs: params.atMs,
      lastFailure: params.failure,
    })),
    noteFailed: assign(({ context }, params: { atMs: number; failure: string }) => ({
      failures: context.failures + 1,
      lastFailedAtMs: params.atMs,
      lastFailure: params.failure,
    })),
    planProbe: assign(({ context }, params: { atMs: number }) => ({
      openings: context.openings + 1,
      openUntilMs: params.atMs + opensForMs(context.openings),
    })),
    forget: assign({ failures: 0, openings: 0, openUntilMs: 0 }),
  },
}).createMachine({
  id: 'destination',
  context: UNTRIED,
  initial: 'closed',
  on: {
    // An attempt that began before it opened may still arrive: the destination works.
    'attempt.accepted': {
      target: '.closed',
      actions: { type: 'noteAccepted', params: ({ event }) => event },
    },
    'attempt.refused': {
      target: '.closed',
      actions: { type: 'noteRefused', params: ({ event }) => event },
    },
    'breaker.reset': { target: '.closed', actions: 'forget' },
  },
  states: {
    closed: {
      description: 'Deliveries are tried as they come.',
      on: {
        'attempt.failed': [
          {
            guard: 'isLastStraw',
            target: 'open',
            actions: [
              { type: 'noteFailed', params: ({ event }) => event },
              { type: 'planProbe', params: ({ event }) => event },
            ],
          },
          { actions: { type: 'noteFailed', params: ({ event }) => event } },
        ],
      },
    },
    open: {
      description: 'It failed several times in a row; nothing is tried before its time.',
      on: {
        'attempt.failed': { actions: { type: 'noteFailed', params: ({ event }) => event } },
        'probe.due': { guard: { type: 'isTime', params: ({ event }) => event }, target: 'probing' },
      },
    },
    probing: {
      description: 'One delivery is tried; what comes of it decides.',
      on: {
        'attempt.failed': {
          target: 'open',
          actions: [
            { type: 'noteFailed', params: ({ event }) => event },
            { type: 'planProbe', params: ({ event }) => event },
          ],
        },
      },
    },
  },
});

export type DestinationSnapshot = SnapshotFrom<typeof destinationMachine>;
export type BreakerState = 'closed' | 'open' | 'probing';
