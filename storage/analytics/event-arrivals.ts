// Stored events in the order in which they became durable. decision: D131
import type { StoredEvent } from '../../machines/wire/event.ts';
import type { ArrivalQuery, EventScope } from '../ports/telemetry/event-store.ts';
import { nanosTextOf } from '../ports/telemetry/stored-event.ts';
import { filterOf } from './event-filter.ts';
import { EVENT_COLUMNS, type EventRow, eventOfRow } from './event-rows.ts';

type Ask = <Row>(
  query: EventScope,
  sql: string,
  params: Readonly<Record<string, unknown>>,
) => Promise<readonly Row[]>;
/** The last whole year that the store's times can hold. */
const RECEIVED_MAX_MS = Date.UTC(2262, 0);

// A batch that was written twice has two times of receipt until the store merges them: the later one counts.
export async function arrivals(ask: Ask, query: ArrivalQuery): Promise<readonly StoredEvent[]> {
  const { receivedFromMs, receivedToMs, after, limit, ...scope } = query;
  const { where, params } = filterOf(scope);
  const beyond =
    after === null
      ? ''
      : `WHERE (received_ms, sensor_id, observed_ns, event_id)
           > ({after_ms: Int64}, {after_sensor: String}, {after_ns: Int64}, {after_id: String})`;
  const rows = await ask<EventRow>(
    scope,
    `SELECT * FROM (
       SELECT ${EVENT_COLUMNS} FROM runtime_events
       WHERE received_at >= fromUnixTimestamp64Milli({received_from: Int64})
         AND received_at < fromUnixTimestamp64Milli({received_to: Int64}) AND ${where}
       ORDER BY received_at DESC LIMIT 1 BY sensor_id, stream_id, channel, sequence, event_id
     ) ${beyond}
     ORDER BY received_ms, sensor_id, observed_ns, event_id LIMIT {row_limit: UInt32}`,
    {
      ...params,
      received_from: Math.max(0, Math.floor(receivedFromMs)),
      received_to: Math.min(Math.floor(receivedToMs), RECEIVED_MAX_MS),
      row_limit: limit,
      ...(after === null ? {} : positionOf(after)),
    },
  );
  return rows.map(eventOfRow);
}

function positionOf(after: NonNullable<ArrivalQuery['after']>): Readonly<Record<string, unknown>> {
  return {
    after_ms: Date.parse(after.received_at),
    after_sensor: after.sensor_id,
    after_ns: nanosTextOf(after.observed_at) ?? '0',
    after_id: after.event_id,
  };
}
