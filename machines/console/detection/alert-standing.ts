// An alert as its row holds it: restored, moved by one event, told as a row again. decision: D101, D130
import { initialTransition, transition } from 'xstate';
import {
  type AlertContext,
  type AlertEvent,
  type AlertStateName,
  alertMachine,
  type MatchedFacts,
} from './alert.machine.ts';

export type AlertStanding = AlertContext & { readonly state: AlertStateName };

/** An alert with its first matches. */
export function newAlert(matched: MatchedFacts): AlertStanding {
  const [snapshot] = initialTransition(alertMachine, matched);
  return { ...snapshot.context, state: snapshot.value };
}

/** An alert after an event; the same object when its state does not take the event. */
export function alertAfter(standing: AlertStanding, event: AlertEvent): AlertStanding {
  const { state: value, ...context } = standing;
  const before = alertMachine.resolveState({ value, context });
  const [next] = transition(alertMachine, before, event);
  const isMoved = next.value !== value || next.context !== before.context;
  return isMoved ? { ...next.context, state: next.value } : standing;
}

/** Whether further matches are counted without a new alert. */
export function isLive({ state }: Pick<AlertStanding, 'state'>): boolean {
  return state === 'open' || state === 'acknowledged';
}
