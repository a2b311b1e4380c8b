// Stored events in the order in which they became durable. How far a page reaches is asked by times of receipt alone, which
// are cheap to sort; its rows are read afterwards, and of an event no more than what is wanted. decision: D131, D167
import type { StoredEvent } from '../../machines/wire/event.ts';
import type { ArrivalPage, ArrivalQuery } from '../ports/telemetry/event-store.ts';
import type { AskEvents } from './ask.ts';
import { type Filter, filterOf } from './event-filter.ts';
import { EVENT_COLUMNS, type EventRow, eventOfRow } from './event-rows.ts';
import { partialRows } from './partial-rows.ts';

type Cut = { readonly rows: number; readonly receivedMs: number };
type Rows<Row> = { readonly columns: string; readonly eventOf: (row: Row) => StoredEvent };
type Page = { readonly filter: Filter; readonly isLast: boolean };

const WHOLE: Rows<EventRow> = { columns: EVENT_COLUMNS, eventOf: eventOfRow };
/** The last whole year that the store's times can hold. */
const RECEIVED_MAX_MS = Date.UTC(2262, 0);
const UP_TO_CUT = 'received_at <= fromUnixTimestamp64Milli({cut_ms: Int64})';
const KEY = 'sensor_id, observed_at, event_id, stream_id, channel, sequence';

/** A page of whole instants. */
export async function arrivals(ask: AskEvents, query: ArrivalQuery): Promise<ArrivalPage> {
  const { wants } = query;
  const filter = filterFrom(query);
  const cut = await cutOf(ask, query, filter);
  if (cut === null) return { events: [], toMs: null };
  const isLast = cut.rows < query.limit;
  const params = { ...filter.params, cut_ms: cut.receivedMs };
  const read = <Row>({ columns, eventOf }: Rows<Row>) =>
    ask(query, rowsSql(columns, { filter, isLast }), params, eventOf);
  const events = await (wants === undefined ? read(WHOLE) : read(partialRows(wants)));
  // They come with the last one first.
  return { events: events.toReversed(), toMs: isLast ? null : cut.receivedMs + 1 };
}

function filterFrom(query: ArrivalQuery): Filter {
  const { receivedFromMs, receivedToMs, sensorId, condition } = query;
  const { where, params } = filterOf({
    ...(sensorId === undefined ? {} : { sensorId }),
    ...(condition === undefined ? {} : { condition }),
  });
  return {
    where: `received_at >= fromUnixTimestamp64Milli({received_from: Int64})
      AND received_at < fromUnixTimestamp64Milli({received_to: Int64}) AND ${where}`,
    params: {
      ...params,
      received_from: Math.max(Math.floor(receivedFromMs), 0),
      received_to: Math.min(Math.floor(receivedToMs), RECEIVED_MAX_MS),
    },
  };
}

/** The instant at which a page ends; null: there is nothing. */
async function cutOf(ask: AskEvents, query: ArrivalQuery, filter: Filter): Promise<Cut | null> {
  const [cut] = await ask<{ readonly found: string; readonly cut_ms: string }>(
    query,
    `SELECT count() AS found, toUnixTimestamp64Milli(max(received_at)) AS cut_ms FROM (
       SELECT received_at FROM runtime_events WHERE ${filter.where}
       ORDER BY received_at LIMIT {row_limit: UInt32})`,
    { ...filter.params, row_limit: query.limit },
  );
  const rows = Number(cut?.found ?? 0);
  return cut === undefined || rows === 0 ? null : { rows, receivedMs: Number(cut.cut_ms) };
}

// A batch that was written twice has two times of receipt until the store merges them: the later one counts. Of two in this
// page it comes first here; where it lies behind the page, a later page tells it.
function rowsSql(columns: string, { filter: { where }, isLast }: Page): string {
  const own = `FROM runtime_events WHERE ${where} AND ${UP_TO_CUT}`;
  const later = `SELECT ${KEY} FROM runtime_events WHERE ${where} AND NOT (${UP_TO_CUT})
    AND (sensor_id, observed_at) IN (SELECT sensor_id, observed_at ${own})`;
  return `SELECT ${columns} ${own}${isLast ? '' : ` AND (${KEY}) NOT IN (${later})`}
    ORDER BY received_at DESC, sensor_id DESC, observed_at DESC, event_id DESC LIMIT 1 BY ${KEY}`;
}
