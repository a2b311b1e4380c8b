// One page of events. The rows that belong on it are found by two narrow columns first, and read whole afterwards, so that a
// page of many million events needs neither the memory nor the time of sorting them whole. A range is asked from its near
// end on, in stretches that grow: who looks at the newest events does not wait for ninety days. invariant: I10; decision: D167
import { DAY_MS, HOUR_MS } from '../../machines/units.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import type { EventQuery } from '../ports/telemetry/event-store.ts';
import { nanosTextOf } from '../ports/telemetry/stored-event.ts';
import type { AskEvents } from './ask.ts';
import { type Filter, filterOf } from './event-filter.ts';
import { EVENT_COLUMNS, type EventRow, eventOfRow } from './event-rows.ts';

type Place = { readonly nanos: string; readonly eventId: string };
type Stretch = Pick<EventQuery, 'fromMs' | 'toMs'>;
/** A filter, in which order its rows are read, and how many events are wanted of them. */
type Part = { readonly filter: Filter; readonly isAscending: boolean; readonly limit: number };

/** Behind the near end of the range; what is left is the last stretch. */
const STRETCHES_MS = [HOUR_MS, DAY_MS] as const;
/** More rows than events: an event that came on two channels is stored twice. */
const SPARE_SHARE = 0.25;
const SPARE_ROWS = 16;
const WIDER = 4;

/** The events of a page, each once. */
export async function searchPage(
  ask: AskEvents,
  query: EventQuery,
): Promise<readonly StoredEvent[]> {
  const found = new Map<string, EventRow>();
  for (const filter of filtersOf(query)) {
    const part = {
      ...{ filter, isAscending: query.order === 'ascending', limit: query.limit - found.size },
    };
    for (const row of await firstOf((sql, params) => ask<EventRow>(query, sql, params), part)) {
      if (!found.has(row.event_id)) found.set(row.event_id, row);
    }
    if (found.size >= query.limit) break;
  }
  return [...found.values()].slice(0, query.limit).map(eventOfRow);
}

/** The first rows of a part, with as many events among them as are asked for or as there are. */
async function firstOf(
  ask: (sql: string, params: Filter['params']) => Promise<readonly EventRow[]>,
  { filter: { where, params }, isAscending, limit }: Part,
): Promise<readonly EventRow[]> {
  const direction = isAscending ? 'ASC' : 'DESC';
  let most = Math.ceil(limit * (1 + SPARE_SHARE)) + SPARE_ROWS;
  for (;;) {
    // With ties, so that nothing of the last instant is missing where its rows are put in order by their ids.
    const rows = await ask(
      `SELECT ${EVENT_COLUMNS} FROM runtime_events
       WHERE (sensor_id, observed_at) IN (
         SELECT sensor_id, observed_at FROM runtime_events WHERE ${where}
         ORDER BY observed_at ${direction} LIMIT {most_rows: UInt32} WITH TIES) AND ${where}
       ORDER BY observed_at ${direction}, event_id ${direction} LIMIT {most_rows: UInt32}`,
      { ...params, most_rows: most },
    );
    const events = new Set(rows.map((row) => row.event_id)).size;
    if (events >= limit || rows.length < most) return rows;
    most *= WIDER;
  }
}

/** What is asked one after another: the rest of the instant at which the page before ended, then stretch by stretch. */
function filtersOf(query: EventQuery): readonly Filter[] {
  const isAscending = query.order === 'ascending';
  const place = placeOf(query);
  const sign = isAscending ? '>' : '<';
  const { after: _, ...whole } = query;
  const stretches = stretchesOf(query, place).map((stretch) => filterOf({ ...whole, ...stretch }));
  if (place === null) return stretches;
  const params = { after_ns: place.nanos, after_id: place.eventId };
  const instant = 'fromUnixTimestamp64Nano({after_ns: Int64})';
  const more = (filter: Filter, condition: string): Filter => ({
    where: `${condition} AND ${filter.where}`,
    params: { ...filter.params, ...params },
  });
  return [
    more(filterOf(whole), `observed_at = ${instant} AND event_id ${sign} {after_id: String}`),
    ...stretches.map((stretch) => more(stretch, `observed_at ${sign} ${instant}`)),
  ];
}

function placeOf({ after }: EventQuery): Place | null {
  if (after === undefined || after === null) return null;
  return { nanos: nanosTextOf(after.observedAt) ?? '0', eventId: after.eventId };
}

/** The range in parts, the near one first; one part where it has no near end. */
function stretchesOf(query: EventQuery, place: Place | null): readonly Stretch[] {
  const isAscending = query.order === 'ascending';
  const { fromMs, toMs } = query;
  const [first, last] = isAscending ? [fromMs, toMs] : [toMs, fromMs];
  const placeMs = place === null ? first : Number(BigInt(place.nanos) / 1_000_000n);
  if (placeMs === undefined) return [stretchOf(fromMs, toMs)];
  const sign = isAscending ? 1 : -1;
  const nearMs = Math.floor(sign * Math.max(sign * placeMs, sign * (first ?? placeMs)));
  const cuts = STRETCHES_MS.map((ms) => nearMs + sign * ms).filter(
    (cut) => last === undefined || (last - cut) * sign > 0,
  );
  const ends = [first, ...cuts, last];
  return ends
    .slice(1)
    .map((far, at) => (isAscending ? stretchOf(ends[at], far) : stretchOf(far, ends[at])));
}

function stretchOf(fromMs: number | undefined, toMs: number | undefined): Stretch {
  return {
    ...(fromMs === undefined ? {} : { fromMs }),
    ...(toMs === undefined ? {} : { toMs }),
  };
}
