// How the analytics database fares, an external one too, by looks at it. One look decides nothing: two in a row do, so a
// server that is restarted alarms nobody.
//   unknown   nobody looked yet, or not twice
//   healthy   it takes, answers, and has room
//   degraded  it works, and something needs somebody
//   away      it does not answer, or takes no rows
// invariant: I8; decision: D155
import { assign, type SnapshotFrom, setup } from 'xstate';
import {
  type AnalyticsFinding,
  type AnalyticsReading,
  findingsOf,
  isAway,
} from './analytics-health.rules.ts';
import { ANALYTICS_LOOKS_MIN } from './limits.ts';

type Verdict = 'healthy' | 'degraded' | 'away';
export type AnalyticsHealthContext = {
  readonly last: AnalyticsReading | null;
  readonly findings: readonly AnalyticsFinding[];
  /** What the last looks said, and how many of them in a row. */
  readonly verdict: Verdict | null;
  readonly inRow: number;
  readonly sinceMs: number | null;
};
export type AnalyticsHealthEvent = { type: 'store.looked'; reading: AnalyticsReading };
type Look = { readonly reading: AnalyticsReading };

export const analyticsHealthMachine = setup({
  types: { context: {} as AnalyticsHealthContext, events: {} as AnalyticsHealthEvent },
  guards: {
    isHealthy: ({ context }, look: Look) => isSure(context, look, 'healthy'),
    isDegraded: ({ context }, look: Look) => isSure(context, look, 'degraded'),
    isAway: ({ context }, look: Look) => isSure(context, look, 'away'),
  },
  actions: {
    note: assign(({ context }, { reading }: Look) => {
      const findings = findingsOf(reading);
      const verdict = verdictOf(findings);
      const inRow = verdict === context.verdict ? context.inRow + 1 : 1;
      return { last: reading, findings, verdict, inRow: Math.min(inRow, ANALYTICS_LOOKS_MIN) };
    }),
    noteSince: assign((_, { reading }: Look) => ({ sinceMs: reading.atMs })),
  },
}).createMachine({
  id: 'analyticsHealth',
  context: { last: null, findings: [], verdict: null, inRow: 0, sinceMs: null },
  initial: 'unknown',
  states: {
    unknown: {
      description: 'Nobody looked yet, or not twice.',
      on: {
        'store.looked': [
          {
            guard: { type: 'isHealthy', params: ({ event }) => event },
            target: 'healthy',
            actions: [
              { type: 'note', params: ({ event }) => event },
              { type: 'noteSince', params: ({ event }) => event },
            ],
          },
          {
            guard: { type: 'isDegraded', params: ({ event }) => event },
            target: 'degraded',
            actions: [
              { type: 'note', params: ({ event }) => event },
              { type: 'noteSince', params: ({ event }) => event },
            ],
          },
          {
            guard: { type: 'isAway', params: ({ event }) => event },
            target: 'away',
            actions: [
              { type: 'note', params: ({ event }) => event },
              { type: 'noteSince', params: ({ event }) => event },
            ],
          },
          { actions: { type: 'note', params: ({ event }) => event } },
        ],
      },
    },
    healthy: {
      description: 'It takes, answers, and has room.',
      on: {
        'store.looked': [
          {
            guard: { type: 'isDegraded', params: ({ event }) => event },
            target: 'degraded',
            actions: [
              { type: 'note', params: ({ event }) => event },
              { type: 'noteSince', params: ({ event }) => event },
            ],
          },
          {
            guard: { type: 'isAway', params: ({ event }) => event },
            target: 'away',
            actions: [
              { type: 'note', params: ({ event }) => event },
              { type: 'noteSince', params: ({ event }) => event },
            ],
          },
          { actions: { type: 'note', params: ({ event }) => event } },
        ],
      },
    },
    degraded: {
      description: 'It works, and something needs somebody.',
      on: {
        'store.looked': [
          {
            guard: { type: 'isHealthy', params: ({ event }) => event },
            target: 'healthy',
            actions: [
              { type: 'note', params: ({ event }) => event },
              { type: 'noteSince', params: ({ event }) => event },
            ],
          },
          {
            guard: { type: 'isAway', params: ({ event }) => event },
            target: 'away',
            actions: [
              { type: 'note', params: ({ event }) => event },
              { type: 'noteSince', params: ({ event }) => event },
            ],
          },
          { actions: { type: 'note', params: ({ event }) => event } },
        ],
      },
    },
    away: {
      description: 'It does not answer, or takes no rows.',
      on: {
        'store.looked': [
          {
            guard: { type: 'isHealthy', params: ({ event }) => event },
            target: 'healthy',
            actions: [
              { type: 'note', params: ({ event }) => event },
              { type: 'noteSince', params: ({ event }) => event },
            ],
          },
          {
            guard: { type: 'isDegraded', params: ({ event }) => event },
            target: 'degraded',
            actions: [
              { type: 'note', params: ({ event }) => event },
              { type: 'noteSince', params: ({ event }) => event },
            ],
          },
          { actions: { type: 'note', params: ({ event }) => event } },
        ],
      },
    },
  },
});

function verdictOf(findings: readonly AnalyticsFinding[]): Verdict {
  if (findings.length === 0) return 'healthy';
  return isAway(findings) ? 'away' : 'degraded';
}

/** Whether this look says the same as those before it, often enough. */
function isSure(
  { verdict, inRow }: AnalyticsHealthContext,
  { reading }: Look,
  wanted: Verdict,
): boolean {
  if (verdictOf(findingsOf(reading)) !== wanted) return false;
  return verdict === wanted && inRow + 1 >= ANALYTICS_LOOKS_MIN;
}

export type AnalyticsHealthSnapshot = SnapshotFrom<typeof analyticsHealthMachine>;
export type AnalyticsHealthStateName = 'unknown' | 'healthy' | 'degraded' | 'away';
