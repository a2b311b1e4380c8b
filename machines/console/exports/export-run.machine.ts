// One day of one table on its way to Parquet files. Its row is the job: a crash leaves it where its row says, and what was
// copied and read back stays copied. Copying a part again writes the same object.
//   waiting   for its time; nothing was tried, or what came before failed
//   counting  rows, different names and hashes of the day are asked for
//   copying   part after part is written and read back
//   sealing   the day is counted again, left-over parts go, the manifest is written
//   done      files and manifest are there, or the day is empty
//   dead      failed for a week; an operator may order it again
// invariant: I8; decision: D157
import { assign, type SnapshotFrom, setup } from 'xstate';
import { exportDelayMs, partsFor, type Tally } from './export-run.rules.ts';
import { EXPORT_GIVE_UP_MS } from './limits.ts';

export type ExportRunContext = {
  readonly dueAtMs: number;
  readonly giveUpAtMs: number;
  /** Failures in a row. */
  readonly failures: number;
  readonly tally: Tally | null;
  /** Null: the day was not counted. */
  readonly parts: number | null;
  /** The first so many are there and were read back. */
  readonly copied: number;
  /** No part above this number was ever written. */
  readonly highestPart: number;
  readonly endedAtMs: number | null;
  /** Why it waits or is dead. */
  readonly reason: string | null;
};
export type ExportRunInput = { readonly nowMs: number };
export type ExportRunEvent =
  | { type: 'run.claimed'; atMs: number }
  | { type: 'day.counted'; atMs: number; tally: Tally }
  | { type: 'part.copied'; atMs: number }
  | { type: 'run.sealed'; atMs: number }
  /** The day holds something else than was copied. */
  | { type: 'totals.differ'; atMs: number; reason: string; chance: number }
  | { type: 'step.failed'; atMs: number; reason: string; chance: number }
  /** The Console that worked on it is gone. */
  | { type: 'run.lost'; atMs: number }
  | { type: 'run.ordered'; atMs: number };

type At = { readonly atMs: number };
const at = ({ event }: { readonly event: At }): At => event;

export const exportRunMachine = setup({
  types: {
    context: {} as ExportRunContext,
    events: {} as ExportRunEvent,
    input: {} as ExportRunInput,
    tags: {} as 'active' | 'ended',
  },
  guards: {
    isUncounted: ({ context }) => context.parts === null,
    isWhole: ({ context }) => context.copied >= (context.parts ?? 0),
    isLastPart: ({ context }) => context.copied + 1 >= (context.parts ?? 0),
    /** Nothing to write, and nothing of an earlier run to take away. */
    isEmpty: ({ context }, params: { tally: Tally }) =>
      params.tally.rows === 0 && context.highestPart === 0,
    hasNoRows: (_, params: { tally: Tally }) => params.tally.rows === 0,
    isTooLate: ({ context }, params: At) => params.atMs >= context.giveUpAtMs,
  },
  actions: {
    noteTally: assign(({ context }, { tally }: { tally: Tally }) => {
      const parts = partsFor(tally.rows);
      const highestPart = Math.max(context.highestPart, parts);
      return { tally, parts, copied: 0, highestPart, failures: 0, reason: null };
    }),
    notePart: assign(({ context }) => ({ copied: context.copied + 1, failures: 0, reason: null })),
    noteSealed: assign(({ context }) => ({ highestPart: context.parts ?? 0, failures: 0 })),
    noteEnd: assign((_, params: At & { reason: string | null }) => ({
      endedAtMs: params.atMs,
      reason: params.reason,
    })),
    startOver: assign({ tally: null, parts: null, copied: 0 }),
    planRetry: assign(({ context }, params: At & { reason: string; chance: number }) => ({
      failures: context.failures + 1,
      dueAtMs: params.atMs + exportDelayMs(context.failures + 1, params.chance),
      reason: params.reason,
    })),
    beDueNow: assign((_, params: At) => ({ dueAtMs: params.atMs })),
    beginAnew: assign((_, params: At) => ({
      dueAtMs: params.atMs,
      giveUpAtMs: params.atMs + EXPORT_GIVE_UP_MS,
      ...{ failures: 0, tally: null, parts: null, copied: 0, endedAtMs: null, reason: null },
    })),
  },
}).createMachine({
  id: 'export-run',
  context: ({ input }) => ({
    dueAtMs: input.nowMs,
    giveUpAtMs: input.nowMs + EXPORT_GIVE_UP_MS,
    ...{ failures: 0, tally: null, parts: null, copied: 0, highestPart: 0 },
    ...{ endedAtMs: null, reason: null },
  }),
  initial: 'waiting',
  states: {
    waiting: {
      description: 'For its time: nothing was tried, or what came before failed.',
      on: {
        'run.claimed': [
          { guard: 'isUncounted', target: 'counting' },
          { guard: 'isWhole', target: 'sealing' },
          { target: 'copying' },
        ],
        'run.ordered': { actions: { type: 'beginAnew', params: at } },
      },
    },
    counting: {
      tags: 'active',
      description: 'Rows, different names and hashes of the day are asked for.',
      on: {
        'day.counted': [
          {
            guard: { type: 'isEmpty', params: ({ event }) => event },
            target: 'done',
            actions: [
              { type: 'noteTally', params: ({ event }) => event },
              { type: 'noteEnd', params: ({ event }) => ({ atMs: event.atMs, reason: null }) },
            ],
          },
          {
            guard: { type: 'hasNoRows', params: ({ event }) => event },
            target: 'sealing',
            actions: { type: 'noteTally', params: ({ event }) => event },
          },
          { target: 'copying', actions: { type: 'noteTally', params: ({ event }) => event } },
        ],
        'step.failed': [
          {
            guard: { type: 'isTooLate', params: at },
            target: 'dead',
            actions: { type: 'noteEnd', params: ({ event }) => event },
          },
          { target: 'waiting', actions: { type: 'planRetry', params: ({ event }) => event } },
        ],
        'run.lost': { target: 'waiting', actions: { type: 'beDueNow', params: at } },
      },
    },
    copying: {
      tags: 'active',
      description: 'Part after part is written and read back.',
      on: {
        'part.copied': [
          { guard: 'isLastPart', target: 'sealing', actions: 'notePart' },
          { actions: 'notePart' },
        ],
        'step.failed': [
          {
            guard: { type: 'isTooLate', params: at },
            target: 'dead',
            actions: { type: 'noteEnd', params: ({ event }) => event },
          },
          { target: 'waiting', actions: { type: 'planRetry', params: ({ event }) => event } },
        ],
        'run.lost': { target: 'waiting', actions: { type: 'beDueNow', params: at } },
      },
    },
    sealing: {
      tags: 'active',
      description: 'The day is counted again, left-over parts go, the manifest is written.',
      on: {
        'run.sealed': {
          target: 'done',
          actions: [
            'noteSealed',
            { type: 'noteEnd', params: ({ event }) => ({ atMs: event.atMs, reason: null }) },
          ],
        },
        'totals.differ': {
          target: 'waiting',
          actions: ['startOver', { type: 'planRetry', params: ({ event }) => event }],
        },
        'step.failed': [
          {
            guard: { type: 'isTooLate', params: at },
            target: 'dead',
            actions: { type: 'noteEnd', params: ({ event }) => event },
          },
          { target: 'waiting', actions: { type: 'planRetry', params: ({ event }) => event } },
        ],
        'run.lost': { target: 'waiting', actions: { type: 'beDueNow', params: at } },
      },
    },
    done: {
      tags: 'ended',
      description: 'Files and manifest are there, or the day is empty.',
      on: { 'run.ordered': { target: 'waiting', actions: { type: 'beginAnew', params: at } } },
    },
    dead: {
      tags: 'ended',
      description: 'Failed for a week; an operator may order it again.',
      on: { 'run.ordered': { target: 'waiting', actions: { type: 'beginAnew', params: at } } },
    },
  },
});

export type ExportRunState = SnapshotFrom<typeof exportRunMachine>['value'];
