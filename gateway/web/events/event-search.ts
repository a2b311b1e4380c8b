// The address of a search for events, as the API names its parameters.
import { EVENT_KINDS, SEVERITIES } from '../../../machines/wire/event.ts';
import type { QueryOf } from '../api/contract.ts';
import { listIn, present, textIn } from '../shell/search-params.ts';

export type EventSearch = Omit<QueryOf<'GET /events'>, 'limit' | 'cursor' | 'order'>;

export const CONDITION_MAX_CHARS = 2_048;
const INSTANT = /^(now([-+]\d{1,6}[smhdw])?|\d{4}-\d{2}-\d{2}T[\d:.]{8,18}Z)$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Reads an address; what means nothing is left out. */
export function eventSearchOf(search: Record<string, unknown>): EventSearch {
  return present({
    from: matching(search['from'], INSTANT),
    to: matching(search['to'], INSTANT),
    event_kind: listIn(search['event_kind'], EVENT_KINDS),
    severity: listIn(search['severity'], SEVERITIES),
    binary: textIn(search['binary'])?.slice(0, 256),
    text: textIn(search['text'])?.slice(0, 256),
    q: textIn(search['q'])?.slice(0, CONDITION_MAX_CHARS),
    sensor_id: matching(search['sensor_id'], UUID),
  }) as EventSearch;
}

/** What narrows the search, the range aside. */
export function filtersOf({ from: _from, to: _to, ...filters }: EventSearch) {
  return filters;
}

function matching(value: unknown, pattern: RegExp): string | undefined {
  const text = textIn(value);
  return text !== undefined && pattern.test(text) ? text : undefined;
}
