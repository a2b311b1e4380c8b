// Stored events in the order in which they became durable. Which rows a page has is asked by four narrow columns first; they
// are read whole afterwards, so that no page sorts more than itself. decision: D131, D167
import type { StoredEvent } from '../../machines/wire/event.ts';
import type { ArrivalQuery, EventScope } from '../ports/telemetry/event-store.ts';
import { nanosTextOf } from '../ports/telemetry/stored-event.ts';
import type { AskEvents } from './ask.ts';
import { type Filter, filterOf } from './event-filter.ts';
import { EVENT_COLUMNS, type EventRow, eventOfRow } from './event-rows.ts';

type Place = Pick<EventRow, 'received_ms' | 'sensor_id' | 'observed_ns' | 'event_id'>;
type Cut = { readonly rows: number; readonly receivedMs: string };
type Page = { readonly scope: EventScope; readonly filter: Filter; readonly limit: number };

/** The last whole year that the store's times can hold. */
const RECEIVED_MAX_MS = Date.UTC(2262, 0);
const PLACE = `toUnixTimestamp64Milli(received_at) AS received_ms, sensor_id,
  toUnixTimestamp64Nano(observed_at) AS observed_ns, event_id`;
const UP_TO_CUT = 'received_at <= fromUnixTimestamp64Milli({cut_ms: Int64})';
const IN_ORDER = 'received_at, sensor_id, observed_at, event_id';

/** A page; fewer than `limit` only where there are no more. */
export async function arrivals(
  ask: AskEvents,
  query: ArrivalQuery,
): Promise<readonly StoredEvent[]> {
  const { after, limit, ...scope } = query;
  const found: EventRow[] = [];
  let place = after === null ? null : placeOf(after);
  while (found.length < limit) {
    const page = { scope, filter: filterFrom(query, place), limit: limit - found.length };
    const cut = await cutOf(ask, page);
    if (cut === null) break;
    const places = await placesOf(ask, page, cut.receivedMs);
    found.push(...(await rowsOf(ask, page, { ...cut, places })));
    if (cut.rows < page.limit) break;
    place = places.at(-1) ?? null;
  }
  return found.map(eventOfRow);
}

/** Rows of the range behind a place, also both of a batch that was written twice. */
function filterFrom(query: ArrivalQuery, place: Place | null): Filter {
  const { receivedFromMs, receivedToMs, after: _, limit: __, ...scope } = query;
  const { where, params } = filterOf(scope);
  const fromMs = Math.max(receivedFromMs, Number(place?.received_ms ?? 0), 0);
  const beyond =
    place === null
      ? ''
      : ` AND (${IN_ORDER}) > (fromUnixTimestamp64Milli({after_ms: Int64}), {after_sensor: String},
           fromUnixTimestamp64Nano({after_ns: Int64}), {after_id: String})`;
  return {
    where: `received_at >= fromUnixTimestamp64Milli({received_from: Int64})
      AND received_at < fromUnixTimestamp64Milli({received_to: Int64}) AND ${where}${beyond}`,
    params: {
      ...params,
      received_from: Math.floor(fromMs),
      received_to: Math.min(Math.floor(receivedToMs), RECEIVED_MAX_MS),
      ...(place === null
        ? {}
        : {
            ...{ after_ms: Number(place.received_ms), after_sensor: place.sensor_id },
            ...{ after_ns: place.observed_ns, after_id: place.event_id },
          }),
    },
  };
}

/** How far a page reaches by its receipt alone, which is cheap to sort; null: there is nothing. */
async function cutOf(ask: AskEvents, { scope, filter, limit }: Page): Promise<Cut | null> {
  const [cut] = await ask<{ readonly found: string; readonly cut_ms: string }>(
    scope,
    `SELECT count() AS found, toUnixTimestamp64Milli(max(received_at)) AS cut_ms FROM (
       SELECT received_at FROM runtime_events WHERE ${filter.where}
       ORDER BY received_at LIMIT {row_limit: UInt32})`,
    { ...filter.params, row_limit: limit },
  );
  const rows = Number(cut?.found ?? 0);
  return cut === undefined || rows === 0 ? null : { rows, receivedMs: cut.cut_ms };
}

function placesOf(
  ask: AskEvents,
  { scope, filter, limit }: Page,
  cutMs: string,
): Promise<readonly Place[]> {
  return ask<Place>(
    scope,
    `SELECT ${PLACE} FROM runtime_events WHERE ${UP_TO_CUT} AND ${filter.where}
     ORDER BY ${IN_ORDER} LIMIT {row_limit: UInt32}`,
    { ...filter.params, row_limit: limit, cut_ms: cutMs },
  );
}

// A batch that was written twice has two times of receipt until the store merges them: the later one counts, and where that
// lies behind this page the event is told by a later one.
async function rowsOf(
  ask: AskEvents,
  { scope, filter, limit }: Page,
  { receivedMs, places }: Cut & { readonly places: readonly Place[] },
): Promise<readonly EventRow[]> {
  const rows = await ask<EventRow>(
    scope,
    `SELECT ${EVENT_COLUMNS} FROM runtime_events
     WHERE (sensor_id, observed_at, event_id) IN (
       SELECT sensor_id, observed_at, event_id FROM (
         SELECT ${IN_ORDER} FROM runtime_events WHERE ${UP_TO_CUT} AND ${filter.where}
         ORDER BY ${IN_ORDER} LIMIT {row_limit: UInt32}))
       AND ${filter.where}
     ORDER BY received_at DESC LIMIT 1 BY sensor_id, stream_id, channel, sequence, event_id`,
    { ...filter.params, row_limit: limit, cut_ms: receivedMs },
  );
  const order = new Map(places.map((place, at) => [keyOf(place), at]));
  const at = (row: EventRow) => order.get(keyOf(row)) ?? -1;
  return rows.filter((row) => order.has(keyOf(row))).sort((a, b) => at(a) - at(b));
}

function keyOf({ received_ms, sensor_id, observed_ns, event_id }: Place): string {
  return `${received_ms} ${observed_ns} ${event_id} ${sensor_id}`;
}

function placeOf(after: NonNullable<ArrivalQuery['after']>): Place {
  return {
    received_ms: String(Date.parse(after.received_at)),
    sensor_id: after.sensor_id,
    observed_ns: nanosTextOf(after.observed_at) ?? '0',
    event_id: after.event_id,
  };
}
