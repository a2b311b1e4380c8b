// A SIEM destination whose state lies in a row: restored from it, moved by one event, told as a row again. decision: D153
import { initialTransition, transition } from 'xstate';
import { SIEM_PROBE_EVENTS_MAX } from './limits.ts';
import {
  type SiemContext,
  type SiemEvent,
  type SiemStateName,
  siemDestinationMachine,
} from './siem-destination.machine.ts';

export type SiemStanding = SiemContext & { readonly state: SiemStateName };

/** One that begins with events received after an instant. */
export function newSiemStanding(startMs: number): SiemStanding {
  const [snapshot] = initialTransition(siemDestinationMachine, { startMs });
  return { ...snapshot.context, state: snapshot.value };
}

/** A destination after an event; one that its state does not expect changes nothing. */
export function siemAfter(standing: SiemStanding, event: SiemEvent): SiemStanding {
  const { state: value, ...context } = standing;
  const [next] = transition(
    siemDestinationMachine,
    siemDestinationMachine.resolveState({ value, context }),
    event,
  );
  return { ...next.context, state: next.value };
}

/** How many events may be sent now; none while it waits, is stopped or paused. */
export function eventsAllowed(standing: SiemStanding, nowMs: number): number {
  const { state, untilMs, batchEvents } = standing;
  if (state === 'stopped' || state === 'paused' || nowMs < untilMs) return 0;
  return state === 'open' ? Math.min(SIEM_PROBE_EVENTS_MAX, batchEvents) : batchEvents;
}
