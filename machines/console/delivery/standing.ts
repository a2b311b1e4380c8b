// A machine whose state lies in a row: it is restored from the row, moves by one event, and is told as a row again. So the
// machines decide, and the database alone remembers. decision: D101
import { transition } from 'xstate';
import {
  type DeliveryContext,
  type DeliveryEvent,
  type DeliveryStateName,
  deliveryMachine,
} from './delivery.machine.ts';
import { giveUpAtMs } from './delivery.rules.ts';
import {
  type BreakerState,
  type DestinationContext,
  type DestinationEvent,
  destinationMachine,
  UNTRIED,
} from './destination.machine.ts';

export type DeliveryStanding = DeliveryContext & { readonly state: DeliveryStateName };
export type DestinationStanding = DestinationContext & { readonly state: BreakerState };

/** A delivery that may first be tried at an instant. */
export function newDelivery(dueAtMs: number): DeliveryStanding {
  return {
    ...{ state: 'waiting', dueAtMs, attempts: 0, giveUpAtMs: giveUpAtMs(dueAtMs) },
    ...{ endedAtMs: null, reason: null, foldedInto: null },
  };
}

/** A destination that nothing was sent to. */
export const newDestination: DestinationStanding = { state: 'closed', ...UNTRIED };

/** A delivery after an event; one that its state does not expect changes nothing. */
export function deliveryAfter(standing: DeliveryStanding, event: DeliveryEvent): DeliveryStanding {
  const { state: value, ...context } = standing;
  const [next] = transition(
    deliveryMachine,
    deliveryMachine.resolveState({ value, context }),
    event,
  );
  return { ...next.context, state: next.value };
}

/** A destination after an event. */
export function destinationAfter(
  standing: DestinationStanding,
  event: DestinationEvent,
): DestinationStanding {
  const { state: value, ...context } = standing;
  const [next] = transition(
    destinationMachine,
    destinationMachine.resolveState({ value, context }),
    event,
  );
  return { ...next.context, state: next.value };
}
