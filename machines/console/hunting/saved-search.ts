// A saved search: a question for events that has a name, and, where it has a threshold, what is counted of it.
import type { EventKind, Severity } from '../../wire/event.ts';
import type { SavedSearchStanding } from './saved-search-standing.ts';

/** The filter of an event search, the time aside. Names are those of the address. */
export type SearchFilter = {
  readonly q?: string;
  readonly text?: string;
  readonly binary?: string;
  readonly event_kind?: readonly EventKind[];
  readonly severity?: readonly Severity[];
  readonly sensor_id?: string;
};

/** Told when so many events match within so many seconds. */
export type SearchWatch = {
  readonly threshold: number;
  readonly windowSecs: number;
  /** Of the alert. */
  readonly severity: Severity;
};

export type SavedSearch = {
  readonly name: string;
  readonly filter: SearchFilter;
  /** Null: it is only asked by hand. */
  readonly watch: SearchWatch | null;
  readonly createdBy: string;
  /** Rises with each change by people; counting does not move it. */
  readonly version: number;
  readonly standing: SavedSearchStanding;
};

/** The query of the page of events that shows this search, for a range. */
export function searchQueryOf(
  filter: SearchFilter,
  range: { readonly from: string; readonly to: string },
): string {
  const query = new URLSearchParams(range);
  for (const [name, value] of Object.entries(filter)) {
    for (const one of [value].flat()) if (one !== undefined) query.append(name, String(one));
  }
  return query.toString();
}
