// One investigation, from a first suspicion to what came of it. Nothing that was collected is lost when it is closed, and a
// closed one is changed by nobody before it is opened again.
//   open         somebody should look; nobody does yet
//   in_progress  somebody looks
//   handed_over  whoever looked gave it to another one, who has not taken it yet
//   closed       it has its outcome; it is read only
// invariant: I8; decision: D143
import { assign, type SnapshotFrom, setup } from 'xstate';

export const INVESTIGATION_OUTCOMES = [
  'true_positive',
  'false_positive',
  'benign',
  'inconclusive',
] as const;
export type InvestigationOutcome = (typeof INVESTIGATION_OUTCOMES)[number];

export type InvestigationContext = {
  /** Who looks, or is meant to look. */
  readonly assignee: string | null;
  readonly handedOverBy: string | null;
  readonly outcome: InvestigationOutcome | null;
  readonly closedAtMs: number | null;
  readonly reopenings: number;
};
export type InvestigationEvent =
  | { type: 'investigation.taken'; by: string }
  | { type: 'investigation.handed_over'; by: string; to: string }
  | { type: 'investigation.closed'; atMs: number; outcome: InvestigationOutcome }
  | { type: 'investigation.reopened' };

export const UNTOUCHED: InvestigationContext = {
  ...{ assignee: null, handedOverBy: null, outcome: null, closedAtMs: null, reopenings: 0 },
};

export const investigationMachine = setup({
  types: {
    context: {} as InvestigationContext,
    events: {} as InvestigationEvent,
    tags: {} as 'takes-items',
  },
  actions: {
    assign: assign((_, params: { by: string }) => ({ assignee: params.by, handedOverBy: null })),
    handOver: assign((_, params: { by: string; to: string }) => ({
      ...{ assignee: params.to, handedOverBy: params.by },
    })),
    close: assign((_, params: { atMs: number; outcome: InvestigationOutcome }) => ({
      ...{ outcome: params.outcome, closedAtMs: params.atMs, handedOverBy: null },
    })),
    reopen: assign(({ context }) => ({
      ...{ outcome: null, closedAtMs: null, reopenings: context.reopenings + 1 },
    })),
  },
}).createMachine({
  id: 'investigation',
  context: UNTOUCHED,
  initial: 'open',
  states: {
    open: {
      description: 'Somebody should look; nobody does yet.',
      tags: 'takes-items',
      on: {
        'investigation.taken': {
          target: 'in_progress',
          actions: { type: 'assign', params: ({ event }) => event },
        },
        'investigation.handed_over': {
          target: 'handed_over',
          actions: { type: 'handOver', params: ({ event }) => event },
        },
        'investigation.closed': {
          target: 'closed',
          actions: { type: 'close', params: ({ event }) => event },
        },
      },
    },
    in_progress: {
      description: 'Somebody looks.',
      tags: 'takes-items',
      on: {
        'investigation.taken': { actions: { type: 'assign', params: ({ event }) => event } },
        'investigation.handed_over': {
          target: 'handed_over',
          actions: { type: 'handOver', params: ({ event }) => event },
        },
        'investigation.closed': {
          target: 'closed',
          actions: { type: 'close', params: ({ event }) => event },
        },
      },
    },
    handed_over: {
      description: 'It was given to another one, who has not taken it yet.',
      tags: 'takes-items',
      on: {
        'investigation.taken': {
          target: 'in_progress',
          actions: { type: 'assign', params: ({ event }) => event },
        },
        'investigation.handed_over': {
          actions: { type: 'handOver', params: ({ event }) => event },
        },
        'investigation.closed': {
          target: 'closed',
          actions: { type: 'close', params: ({ event }) => event },
        },
      },
    },
    closed: {
      description: 'It has its outcome; it is read only.',
      on: { 'investigation.reopened': { target: 'open', actions: 'reopen' } },
    },
  },
});

export type InvestigationSnapshot = SnapshotFrom<typeof investigationMachine>;
export type InvestigationState = 'open' | 'in_progress' | 'handed_over' | 'closed';
