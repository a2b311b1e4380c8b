// One step of a rollout: from its stored row, by an event of its machine, to its next row. Whoever takes the step stores it;
// two that take it at once are judged by the revision of the book. decision: D82, D90
import { initialTransition, transition } from 'xstate';
import type { RolloutRow } from './book.rules.ts';
import { type RolloutEvent, type RolloutInput, rolloutMachine } from './rollout.machine.ts';
import { ROLLOUT_STATES, type RolloutState } from './rollout.rules.ts';

/** The row of a rollout that begins. */
export function beginRollout(
  facts: Pick<RolloutRow, 'rolloutId' | 'target' | 'before' | 'next' | 'startedAtMs' | 'startedBy'>,
  input: RolloutInput,
): RolloutRow {
  const [snapshot] = initialTransition(rolloutMachine, input);
  const { context } = snapshot;
  const state = stateOf(snapshot.value);
  return { ...facts, state, context, sequence: 1, movedAtMs: facts.startedAtMs };
}

/** The row after an event; null when the event changes nothing. */
export function stepRollout(row: RolloutRow, event: RolloutEvent): RolloutRow | null {
  const before = snapshotOf(row);
  const [after] = transition(rolloutMachine, before, event);
  const state = stateOf(after.value);
  const { context } = after;
  if (state === row.state && context === before.context) return null;
  return { ...row, state, context, sequence: row.sequence + 1, movedAtMs: event.atMs };
}

/** A rollout as its machine has it. */
export function snapshotOf({ state, context }: Pick<RolloutRow, 'state' | 'context'>) {
  const [outer, inner] = state.split('.');
  const value = inner === undefined ? outer : { [String(outer)]: inner };
  return rolloutMachine.resolveState({ value: value as never, context });
}

function stateOf(value: unknown): RolloutState {
  const text = typeof value === 'string' ? value : Object.entries(value as object)[0]?.join('.');
  const found = ROLLOUT_STATES.find((one) => one === text);
  if (found === undefined) throw new Error(`a rollout has no state ${text}`);
  return found;
}
