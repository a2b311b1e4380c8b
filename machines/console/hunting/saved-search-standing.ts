// A saved search as its row remembers it: the machine is restored from the row, moves by one event, and is told as a row
// again. decision: D142
import { transition } from 'xstate';
import {
  type SavedSearchContext,
  type SavedSearchEvent,
  type SavedSearchState,
  savedSearchMachine,
  UNREAD,
} from './saved-search.machine.ts';

export type SavedSearchStanding = SavedSearchContext & { readonly state: SavedSearchState };

/** One that was never read. */
export const newSavedSearch: SavedSearchStanding = { state: 'below', ...UNREAD };

/** A search after an event; the same value when its state does not take it. */
export function savedSearchAfter(
  standing: SavedSearchStanding,
  event: SavedSearchEvent,
): SavedSearchStanding {
  const { state: value, ...context } = standing;
  const snapshot = savedSearchMachine.resolveState({ value, context });
  if (!snapshot.can(event)) return standing;
  const [next] = transition(savedSearchMachine, snapshot, event);
  return { ...next.context, state: next.value };
}
