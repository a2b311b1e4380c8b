// What the fixture's event store answers out of plain rows.
import type { StoredEvent } from '../../../machines/wire/event.ts';
import type { EventQuery } from '../../../storage/ports/telemetry/event-store.ts';

/** One page of events that match. */
export function searchEvents(events: readonly StoredEvent[], query: EventQuery): StoredEvent[] {
  const sign = query.order === 'ascending' ? 1 : -1;
  const keyOf = (event: StoredEvent) => `${event.observed_at}\n${event.event_id}`;
  const after = query.after ? `${query.after.observedAt}\n${query.after.eventId}` : null;
  return events
    .filter((event) => Date.parse(event.observed_at) >= (query.fromMs ?? 0))
    .filter((event) => Date.parse(event.observed_at) < (query.toMs ?? Number.POSITIVE_INFINITY))
    .filter((event) => query.sensorId === undefined || event.sensor_id === query.sensorId)
    .filter((event) => query.eventKinds?.includes(event.event_kind) ?? true)
    .filter((event) => query.severities?.includes(event.severity) ?? true)
    .filter((event) => event.message.includes(query.text ?? ''))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -sign : sign))
    .filter((event) => after === null || (keyOf(event) > after ? sign : -sign) > 0)
    .filter((event) => after === null || keyOf(event) !== after)
    .slice(0, query.limit);
}
