// The address of a search for events, as the API names its parameters, with the columns that are shown and the event that
// is open beside the list.
import { EVENT_KINDS, SEVERITIES } from '../../../machines/wire/words.ts';
import type { QueryOf } from '../api/contract.ts';
import { instantOf } from '../design/range.ts';
import { listIn, present, textIn } from '../shell/search-params.ts';

export type EventQuestion = Omit<QueryOf<'GET /events'>, 'limit' | 'cursor' | 'order'>;
export type EventSearch = EventQuestion & {
  /** Columns that are shown; the usual ones when absent. */
  readonly columns?: readonly string[];
  /** Identifier of the event that is open. */
  readonly open?: string;
};

export const CONDITION_MAX_CHARS = 2_048;
const COLUMNS_MAX = 32;
const OPEN_MAX_CHARS = 256;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Reads an address; what means nothing is left out. */
export function eventSearchOf(search: Record<string, unknown>): EventSearch {
  const columns = [search['columns']].flat().filter((one) => typeof one === 'string');
  const sensorId = textIn(search['sensor_id']);
  return present({
    from: instantIn(search['from']),
    to: instantIn(search['to']),
    event_kind: listIn(search['event_kind'], EVENT_KINDS),
    severity: listIn(search['severity'], SEVERITIES),
    binary: textIn(search['binary'])?.slice(0, 256),
    text: textIn(search['text'])?.slice(0, 256),
    q: textIn(search['q'])?.slice(0, CONDITION_MAX_CHARS),
    sensor_id: sensorId !== undefined && UUID.test(sensorId) ? sensorId : undefined,
    columns: columns.length === 0 ? undefined : columns.slice(0, COLUMNS_MAX),
    open: textIn(search['open'])?.slice(0, OPEN_MAX_CHARS),
  }) as EventSearch;
}

/** What the Console is asked for. */
export function questionOf({ columns: _columns, open: _open, ...question }: EventSearch) {
  return question;
}

/** What narrows the search, the range aside. */
export function filtersOf(search: EventSearch) {
  const { from: _from, to: _to, ...filters } = questionOf(search);
  return filters;
}

/** Another question; columns stay, and no event is open. */
export function asking(search: EventSearch, question: Partial<EventQuestion>): EventSearch {
  const { open: _open, ...rest } = { ...search, ...question };
  const isThere = ([, value]: [string, unknown]) =>
    value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(rest).filter(isThere)) as EventSearch;
}

function instantIn(value: unknown): string | undefined {
  const text = textIn(value);
  return text !== undefined && instantOf(text, 0) !== null ? text : undefined;
}
