// An investigation and what is collected in it. Of an event only its name is kept here: events stay where events are.
// invariant: I15; decision: D143
import { transition } from 'xstate';
import type { Severity } from '../../wire/event.ts';
import {
  type InvestigationContext,
  type InvestigationEvent,
  type InvestigationState,
  investigationMachine,
  UNTOUCHED,
} from './investigation.machine.ts';

export type InvestigationStanding = InvestigationContext & { readonly state: InvestigationState };

export type Investigation = {
  readonly name: string;
  readonly summary: string;
  readonly severity: Severity;
  readonly createdBy: string;
  readonly standing: InvestigationStanding;
  /** Oldest first; the newest, where there were very many. */
  readonly moves: readonly InvestigationMove[];
};

/** Who moved it, and what was said of it. */
export type InvestigationMove = {
  readonly atMs: number;
  readonly by: string;
  readonly from: InvestigationState;
  readonly to: InvestigationState;
  readonly text: string;
};

/** What was collected. `atMs` is when it happened, where the timeline has it. */
export type InvestigationItem = {
  readonly atMs: number;
  readonly addedBy: string;
  readonly addedAtMs: number;
  /** Why it is here. */
  readonly note: string;
} & (
  | { readonly what: 'note' }
  | { readonly what: 'event'; readonly eventId: string; readonly sensorId: string }
  | { readonly what: 'alert'; readonly alertId: string; readonly headline: string }
  | { readonly what: 'sensor'; readonly sensorId: string; readonly nodeName: string }
);

export const newInvestigation: InvestigationStanding = { state: 'open', ...UNTOUCHED };

/** An investigation after an event; null when its state does not take it. */
export function investigationAfter(
  standing: InvestigationStanding,
  event: InvestigationEvent,
): InvestigationStanding | null {
  const { state: value, ...context } = standing;
  const snapshot = investigationMachine.resolveState({ value, context });
  if (!snapshot.can(event)) return null;
  const [next] = transition(investigationMachine, snapshot, event);
  return { ...next.context, state: next.value };
}

/** Whether something may be added or taken away. */
export function takesItems({ state }: InvestigationStanding): boolean {
  return state !== 'closed';
}
