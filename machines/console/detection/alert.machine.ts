// One alert of the inbox, from its first match until somebody settled it. Its row is the alert: the machine decides, the row
// holds what it decided. A settled alert never opens again: what happens later is an alert of its own that names it.
//   open          it matched, and nobody has taken it
//   acknowledged  somebody works on it; further matches are counted and call nobody
//   resolved      somebody, or what it told of, settled it; for its quiet time matches are still counted here
//   reopened      it happened again: the alert that it names goes on
// invariant: I8; decision: D130
import { assign, type SnapshotFrom, setup } from 'xstate';
import { ALERT_EVENTS_SHOWN_MAX } from '../../limits.ts';
import { ALERT_SEVERITIES, type AlertSeverity } from '../delivery/alert.ts';

export { ALERT_STATES, type AlertStateName } from './alert-states.ts';

/** Why an alert is settled. `passed`: what it told of is over by itself. */
export const ALERT_RESOLUTIONS = ['fixed', 'expected', 'false_positive', 'passed'] as const;
export type AlertResolution = (typeof ALERT_RESOLUTIONS)[number];

/** Matches that are counted together. */
export type MatchedFacts = {
  readonly count: number;
  /** When what matched happened. */
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  readonly severity: AlertSeverity;
  /** Events among them, in the order in which they matched. */
  readonly eventIds: readonly string[];
};
export type AlertContext = {
  readonly severity: AlertSeverity;
  readonly count: number;
  readonly firstMatchedAtMs: number;
  readonly lastMatchedAtMs: number;
  /** The newest of them; all are asked from the store. */
  readonly eventIds: readonly string[];
  readonly assignee: string | null;
  readonly acknowledgedAtMs: number | null;
  readonly acknowledgedBy: string | null;
  readonly resolvedAtMs: number | null;
  readonly resolvedBy: string | null;
  readonly resolution: AlertResolution | null;
  /** The alert that goes on. */
  readonly reopenedAs: string | null;
};
export type AlertEvent =
  /** `quietMs`: how long after it was resolved matches are counted here. */
  | { type: 'alert.matched'; atMs: number; quietMs: number; matched: MatchedFacts }
  | { type: 'alert.acknowledged'; atMs: number; by: string }
  | { type: 'alert.assigned'; atMs: number; to: string | null }
  | { type: 'alert.resolved'; atMs: number; by: string; resolution: AlertResolution }
  | { type: 'alert.reopened'; atMs: number; as: string };

export const alertMachine = setup({
  types: {
    context: {} as AlertContext,
    events: {} as AlertEvent,
    input: {} as MatchedFacts,
    tags: {} as 'live',
  },
  guards: {
    // A clock that was set back, or another Console's, may be long before it was resolved: that is no quiet time.
    isQuiet: ({ context }, params: { atMs: number; quietMs: number }) =>
      context.resolvedAtMs !== null &&
      Math.abs(params.atMs - context.resolvedAtMs) < params.quietMs,
  },
  actions: {
    count: assign(({ context }, { matched }: { matched: MatchedFacts }) => ({
      severity: worse(context.severity, matched.severity),
      count: context.count + matched.count,
      firstMatchedAtMs: Math.min(context.firstMatchedAtMs, matched.firstAtMs),
      lastMatchedAtMs: Math.max(context.lastMatchedAtMs, matched.lastAtMs),
      eventIds: newest([...context.eventIds, ...matched.eventIds]),
    })),
    noteAcknowledged: assign((_, { atMs, by }: { atMs: number; by: string }) => ({
      acknowledgedAtMs: atMs,
      acknowledgedBy: by,
    })),
    assignTo: assign((_, { to }: { to: string | null }) => ({ assignee: to })),
    noteResolved: assign(
      (_, params: { atMs: number; by: string; resolution: AlertResolution }) => ({
        resolvedAtMs: params.atMs,
        resolvedBy: params.by,
        resolution: params.resolution,
      }),
    ),
    noteReopened: assign((_, params: { as: string }) => ({ reopenedAs: params.as })),
  },
}).createMachine({
  id: 'alert',
  context: ({ input }) => ({
    severity: input.severity,
    count: input.count,
    firstMatchedAtMs: input.firstAtMs,
    lastMatchedAtMs: input.lastAtMs,
    eventIds: newest(input.eventIds),
    assignee: null,
    ...{ acknowledgedAtMs: null, acknowledgedBy: null },
    ...{ resolvedAtMs: null, resolvedBy: null, resolution: null, reopenedAs: null },
  }),
  initial: 'open',
  states: {
    open: {
      description: 'It matched, and nobody has taken it.',
      tags: 'live',
      on: {
        'alert.matched': { actions: { type: 'count', params: ({ event }) => event } },
        'alert.acknowledged': {
          target: 'acknowledged',
          actions: { type: 'noteAcknowledged', params: ({ event }) => event },
        },
        'alert.assigned': { actions: { type: 'assignTo', params: ({ event }) => event } },
        'alert.resolved': {
          target: 'resolved',
          actions: { type: 'noteResolved', params: ({ event }) => event },
        },
      },
    },
    acknowledged: {
      description: 'Somebody works on it; further matches are counted and call nobody.',
      tags: 'live',
      on: {
        'alert.matched': { actions: { type: 'count', params: ({ event }) => event } },
        'alert.assigned': { actions: { type: 'assignTo', params: ({ event }) => event } },
        'alert.resolved': {
          target: 'resolved',
          actions: { type: 'noteResolved', params: ({ event }) => event },
        },
      },
    },
    resolved: {
      description: 'Settled; for its quiet time matches are still counted here.',
      on: {
        'alert.matched': {
          guard: { type: 'isQuiet', params: ({ event }) => event },
          actions: { type: 'count', params: ({ event }) => event },
        },
        'alert.reopened': {
          target: 'reopened',
          actions: { type: 'noteReopened', params: ({ event }) => event },
        },
      },
    },
    reopened: { description: 'It happened again: the alert that it names goes on.' },
  },
});

function worse(a: AlertSeverity, b: AlertSeverity): AlertSeverity {
  return ALERT_SEVERITIES.indexOf(a) >= ALERT_SEVERITIES.indexOf(b) ? a : b;
}

function newest(ids: readonly string[]): readonly string[] {
  return ids.slice(-ALERT_EVENTS_SHOWN_MAX);
}

export type AlertSnapshot = SnapshotFrom<typeof alertMachine>;
