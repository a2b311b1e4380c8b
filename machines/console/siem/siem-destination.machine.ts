// One SIEM destination. Its cursor says which events it has: everything behind it was accepted, refused for good and counted,
// or not wanted by its filter. One batch is under way at a time, so the receiver sets the pace and events keep their order.
//   forwarding  batches are sent as events come
//   holding     a batch failed, or the receiver wants a pause; it is tried again after that
//   open        several failed in a row; a small one is tried now and then
//   stopped     the receiver refuses who we are, or everything we send; somebody has to look
//   paused      an operator wants nothing sent
// The cursor moves only from where the batch began: what an operator set meanwhile stays. invariant: I8; decision: D153
import { assign, type SnapshotFrom, setup } from 'xstate';
import { SIEM_BATCH_EVENTS_MAX, SIEM_FAILURES_MAX, SIEM_REFUSED_IN_ROW_MAX } from './limits.ts';
import { grown, isSameCursor, type SiemCursor, waitMs } from './siem-destination.rules.ts';

export type SiemContext = {
  readonly cursor: SiemCursor;
  /** How many events a batch may have now; halves where the receiver finds one too big. */
  readonly batchEvents: number;
  /** Batches that failed since the last one that was accepted. */
  readonly failures: number;
  readonly untilMs: number;
  readonly lastAcceptedAtMs: number | null;
  readonly lastFailedAtMs: number | null;
  readonly lastFailure: string | null;
  readonly sentEvents: number;
  /** Events that the receiver refused by themselves; they were left out. */
  readonly refusedEvents: number;
  readonly refusedInRow: number;
};
type Moved = { readonly from: SiemCursor; readonly to: SiemCursor };
export type SiemEvent =
  | ({ type: 'batch.accepted'; atMs: number; events: number; refused: number } & Moved)
  | {
      type: 'batch.failed';
      atMs: number;
      failure: string;
      retryAfterMs: number | null;
      chance: number;
    }
  /** The receiver will never take this batch; `events` of it. */
  | ({ type: 'batch.refused'; atMs: number; events: number; failure: string } & Moved)
  | { type: 'credentials.refused'; atMs: number; failure: string }
  /** Nothing that is wanted came up to there. */
  | ({ type: 'events.none' } & Moved)
  /** Events behind the cursor may have been stored since. */
  | { type: 'cursor.back'; toMs: number }
  | { type: 'destination.paused' }
  | { type: 'destination.resumed'; fromMs: number | null };

type Failure = { readonly atMs: number; readonly failure: string };

export const siemDestinationMachine = setup({
  types: {
    context: {} as SiemContext,
    events: {} as SiemEvent,
    input: {} as { readonly startMs: number },
  },
  guards: {
    isLastStraw: ({ context }) => context.failures + 1 >= SIEM_FAILURES_MAX,
    isOneEvent: (_, params: { events: number }) => params.events <= 1,
    isEndless: ({ context }, params: { events: number }) =>
      params.events <= 1 && context.refusedInRow + 1 >= SIEM_REFUSED_IN_ROW_MAX,
  },
  actions: {
    advance: assign(({ context }, { from, to }: Moved) =>
      isSameCursor(context.cursor, from) ? { cursor: to } : {},
    ),
    noteAccepted: assign(
      ({ context }, params: { atMs: number; events: number; refused: number }) => ({
        ...{ failures: 0, refusedInRow: 0, untilMs: 0, lastAcceptedAtMs: params.atMs },
        sentEvents: context.sentEvents + params.events - params.refused,
        refusedEvents: context.refusedEvents + params.refused,
        batchEvents: grown(context.batchEvents),
      }),
    ),
    noteFailed: assign(({ context }, params: Failure) => ({
      failures: context.failures + 1,
      lastFailedAtMs: params.atMs,
      lastFailure: params.failure,
    })),
    noteRefused: assign((_, params: Failure) => ({
      lastFailedAtMs: params.atMs,
      lastFailure: params.failure,
    })),
    leaveOut: assign(({ context }) => ({
      refusedEvents: context.refusedEvents + 1,
      refusedInRow: context.refusedInRow + 1,
    })),
    halve: assign(({ context }, params: { events: number }) => ({
      batchEvents: Math.max(1, Math.floor(Math.min(context.batchEvents, params.events) / 2)),
    })),
    wait: assign(
      (
        { context: { failures } },
        params: { atMs: number; retryAfterMs: number | null; chance: number },
      ) => ({ untilMs: params.atMs + waitMs({ ...params, failures }) }),
    ),
    goBack: assign(({ context }, params: { toMs: number }) =>
      params.toMs <= context.cursor.receivedAtMs
        ? { cursor: { receivedAtMs: params.toMs, eventId: '' } }
        : {},
    ),
    beginAnew: assign(({ context }, params: { fromMs: number | null }) => ({
      ...{ failures: 0, refusedInRow: 0, untilMs: 0, batchEvents: SIEM_BATCH_EVENTS_MAX },
      ...(params.fromMs === null
        ? { cursor: context.cursor }
        : { cursor: { receivedAtMs: params.fromMs, eventId: '' } }),
    })),
  },
}).createMachine({
  id: 'siemDestination',
  context: ({ input }) => ({
    cursor: { receivedAtMs: input.startMs, eventId: '' },
    ...{ batchEvents: SIEM_BATCH_EVENTS_MAX, failures: 0, untilMs: 0, lastAcceptedAtMs: null },
    ...{ lastFailedAtMs: null, lastFailure: null, sentEvents: 0, refusedEvents: 0 },
    refusedInRow: 0,
  }),
  initial: 'forwarding',
  on: {
    'cursor.back': { actions: { type: 'goBack', params: ({ event }) => event } },
    'destination.paused': '.paused',
    'destination.resumed': {
      target: '.forwarding',
      actions: { type: 'beginAnew', params: ({ event }) => event },
    },
    // What was under way when an operator paused it counts as what it was.
    'batch.accepted': {
      actions: [
        { type: 'advance', params: ({ event }) => event },
        { type: 'noteAccepted', params: ({ event }) => event },
      ],
    },
    'events.none': { actions: { type: 'advance', params: ({ event }) => event } },
    'batch.failed': [
      {
        guard: 'isLastStraw',
        target: '.open',
        actions: [
          { type: 'noteFailed', params: ({ event }) => event },
          { type: 'wait', params: ({ event }) => event },
        ],
      },
      {
        target: '.holding',
        actions: [
          { type: 'noteFailed', params: ({ event }) => event },
          { type: 'wait', params: ({ event }) => event },
        ],
      },
    ],
    'batch.refused': [
      {
        guard: { type: 'isEndless', params: ({ event }) => event },
        target: '.stopped',
        actions: { type: 'noteRefused', params: ({ event }) => event },
      },
      {
        guard: { type: 'isOneEvent', params: ({ event }) => event },
        actions: [
          { type: 'noteRefused', params: ({ event }) => event },
          { type: 'advance', params: ({ event }) => event },
          'leaveOut',
        ],
      },
      {
        actions: [
          { type: 'noteRefused', params: ({ event }) => event },
          { type: 'halve', params: ({ event }) => event },
        ],
      },
    ],
    'credentials.refused': {
      target: '.stopped',
      actions: { type: 'noteRefused', params: ({ event }) => event },
    },
  },
  states: {
    forwarding: { description: 'Batches are sent as events come.' },
    holding: {
      description: 'A batch failed, or the receiver wants a pause; it is tried again after that.',
      on: {
        'batch.accepted': {
          target: 'forwarding',
          actions: [
            { type: 'advance', params: ({ event }) => event },
            { type: 'noteAccepted', params: ({ event }) => event },
          ],
        },
      },
    },
    open: {
      description: 'Several failed in a row; a small one is tried now and then.',
      on: {
        'batch.accepted': {
          target: 'forwarding',
          actions: [
            { type: 'advance', params: ({ event }) => event },
            { type: 'noteAccepted', params: ({ event }) => event },
          ],
        },
      },
    },
    stopped: {
      description: 'The receiver refuses who we are, or everything we send; somebody has to look.',
      on: { 'batch.failed': {}, 'batch.refused': {}, 'credentials.refused': {}, 'events.none': {} },
    },
    paused: {
      description: 'An operator wants nothing sent.',
      on: { 'batch.failed': {}, 'batch.refused': {}, 'credentials.refused': {}, 'events.none': {} },
    },
  },
});

export type SiemSnapshot = SnapshotFrom<typeof siemDestinationMachine>;
export type SiemStateName = 'forwarding' | 'holding' | 'open' | 'stopped' | 'paused';
