// A run whose state lies in a row: it is restored from the row, moves by one event, and is told as a row again. decision: D166
import { initialTransition, transition } from 'xstate';
import {
  type DigestRunContext,
  type DigestRunEvent,
  type DigestRunState,
  digestRunMachine,
} from './digest-run.machine.ts';

export type DigestStanding = DigestRunContext & { readonly state: DigestRunState };

/** A run that nobody tried. */
export function newDigestRun(nowMs: number): DigestStanding {
  const [first] = initialTransition(digestRunMachine, { nowMs });
  return { ...first.context, state: first.value };
}

/** A run after an event; one that its state does not expect changes nothing. */
export function digestRunAfter(standing: DigestStanding, event: DigestRunEvent): DigestStanding {
  const { state: value, ...context } = standing;
  const [next] = transition(
    digestRunMachine,
    digestRunMachine.resolveState({ value, context }),
    event,
  );
  return { ...next.context, state: next.value };
}
