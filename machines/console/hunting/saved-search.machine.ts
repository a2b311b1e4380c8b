// One saved search that has a threshold. It is edge-triggered: a crossing is told once, and again only after the matches
// fell well below the threshold. Its row remembers everything, so a crash between a crossing and its telling loses nothing.
//   below    fewer matches than the threshold
//   telling  the threshold is crossed; the alert has its id and is handed over until it is taken
//   above    the crossing was told; wavering around the threshold is no news
//   paused   somebody wants it quiet; nothing is read
//   halted   its question was refused several times in a row; it says why, and nothing is read until it is changed
// invariant: I8; decision: D142
import { assign, type SnapshotFrom, setup } from 'xstate';
import { SAVED_SEARCH_REFUSALS_MAX } from './limits.ts';
import {
  bucketsAfter,
  type CountedBucket,
  isCalm,
  isCrossed,
  matchesIn,
} from './saved-search.rules.ts';

export type SavedSearchContext = {
  /** Everything received before was read; null: nothing was. */
  readonly readToMs: number | null;
  readonly buckets: readonly CountedBucket[];
  readonly matches: number;
  /** The crossing that is told, or was told last. */
  readonly alertId: string | null;
  readonly crossedAtMs: number | null;
  readonly crossedWith: number;
  readonly crossings: number;
  readonly toldAtMs: number | null;
  readonly refusals: number;
  readonly trouble: string | null;
};
type Read = {
  readonly readToMs: number;
  readonly windowMs: number;
  readonly threshold: number;
  readonly found: readonly CountedBucket[];
  /** Of the alert, should the threshold be crossed. */
  readonly alertId: string;
};
export type SavedSearchEvent =
  | ({ type: 'matches.read' } & Read)
  | { type: 'question.refused'; reason: string }
  | { type: 'alert.taken'; atMs: number }
  | { type: 'search.paused' }
  | { type: 'search.resumed' }
  /** Another question, threshold or window: what was counted means nothing any more. */
  | { type: 'search.changed' };

export const UNREAD: SavedSearchContext = {
  ...{ readToMs: null, buckets: [], matches: 0, alertId: null, crossedAtMs: null, crossedWith: 0 },
  ...{ crossings: 0, toldAtMs: null, refusals: 0, trouble: null },
};

function counted(context: SavedSearchContext, read: Read): number {
  return matchesIn(bucketsAfter(context.buckets, read.found, read));
}

export const savedSearchMachine = setup({
  types: { context: {} as SavedSearchContext, events: {} as SavedSearchEvent },
  guards: {
    isCrossed: ({ context }, read: Read) => isCrossed(counted(context, read), read.threshold),
    isCalm: ({ context }, read: Read) => isCalm(counted(context, read), read.threshold),
    isLastStraw: ({ context }) => context.refusals + 1 >= SAVED_SEARCH_REFUSALS_MAX,
  },
  actions: {
    count: assign(({ context }, read: Read) => {
      const buckets = bucketsAfter(context.buckets, read.found, read);
      const { readToMs } = read;
      return { buckets, readToMs, matches: matchesIn(buckets), refusals: 0, trouble: null };
    }),
    // After `count`.
    noteCrossing: assign(({ context }, { alertId, readToMs }: Read) => ({
      ...{ alertId, crossedAtMs: readToMs, crossedWith: context.matches, toldAtMs: null },
      crossings: context.crossings + 1,
    })),
    noteTold: assign({ toldAtMs: (_, params: { atMs: number }) => params.atMs }),
    noteRefusal: assign(({ context }, params: { reason: string }) => ({
      ...{ refusals: context.refusals + 1, trouble: params.reason },
    })),
    // What was told stays told; the rest begins anew.
    forget: assign({
      ...{ readToMs: null, buckets: [], matches: 0, refusals: 0, trouble: null },
    }),
  },
}).createMachine({
  id: 'saved-search',
  context: UNREAD,
  initial: 'below',
  states: {
    below: {
      description: 'Fewer matches than the threshold.',
      on: {
        'matches.read': [
          {
            guard: { type: 'isCrossed', params: ({ event }) => event },
            target: 'telling',
            actions: [
              { type: 'count', params: ({ event }) => event },
              { type: 'noteCrossing', params: ({ event }) => event },
            ],
          },
          { actions: { type: 'count', params: ({ event }) => event } },
        ],
        'question.refused': [
          {
            guard: 'isLastStraw',
            target: 'halted',
            actions: { type: 'noteRefusal', params: ({ event }) => event },
          },
          { actions: { type: 'noteRefusal', params: ({ event }) => event } },
        ],
        'search.paused': 'paused',
        'search.changed': { actions: 'forget' },
      },
    },
    telling: {
      description: 'The threshold is crossed; the alert is handed over until it is taken.',
      on: {
        // Whoever pauses or changes it now is told of what was crossed before.
        'alert.taken': {
          target: 'above',
          actions: { type: 'noteTold', params: ({ event }) => event },
        },
        'search.changed': { actions: 'forget' },
      },
    },
    above: {
      description: 'The crossing was told; wavering around the threshold is no news.',
      on: {
        'matches.read': [
          {
            guard: { type: 'isCalm', params: ({ event }) => event },
            target: 'below',
            actions: { type: 'count', params: ({ event }) => event },
          },
          { actions: { type: 'count', params: ({ event }) => event } },
        ],
        'question.refused': [
          {
            guard: 'isLastStraw',
            target: 'halted',
            actions: { type: 'noteRefusal', params: ({ event }) => event },
          },
          { actions: { type: 'noteRefusal', params: ({ event }) => event } },
        ],
        'search.paused': 'paused',
        'search.changed': { target: 'below', actions: 'forget' },
      },
    },
    paused: {
      description: 'Somebody wants it quiet; nothing is read.',
      entry: 'forget',
      on: { 'search.resumed': 'below' },
    },
    halted: {
      description: 'Its question was refused several times; nothing is read until it is changed.',
      on: {
        'search.paused': 'paused',
        'search.resumed': { target: 'below', actions: 'forget' },
        'search.changed': { target: 'below', actions: 'forget' },
      },
    },
  },
});

export type SavedSearchSnapshot = SnapshotFrom<typeof savedSearchMachine>;
export type SavedSearchState = 'below' | 'telling' | 'above' | 'paused' | 'halted';
