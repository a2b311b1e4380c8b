// What the fixture's ports answer out of plain rows: a page of sensors, a search of events, one license.
import type { StoredEvent } from '../../../machines/wire/event.ts';
import type { SensorQuery, SensorRow } from '../../../storage/ports/fleet/sensor-registry.ts';
import type { LicenseRow, LicenseStore } from '../../../storage/ports/license/license-store.ts';
import type { EventQuery } from '../../../storage/ports/telemetry/event-store.ts';

/** The license in one variable. */
export function licenseStore(): LicenseStore {
  let row: LicenseRow = { revision: 0, license: null, seenMs: 0 };
  return {
    async observe({ nowMs }) {
      row = { ...row, seenMs: Math.max(row.seenMs, nowMs) };
      return row;
    },
    async put({ envelope, nowMs, actor, seenMs }) {
      const license = { envelope, importedAtMs: nowMs, importedBy: actor };
      row = { revision: row.revision + 1, license, seenMs };
      return row;
    },
  };
}

/** One page of sensors, by name. */
export function listSensors(rows: readonly SensorRow[], query: SensorQuery): SensorRow[] {
  const keyOf = (row: { readonly nodeName: string; readonly sensorId: string }) =>
    `${row.nodeName}\n${row.sensorId}`;
  const { after } = query;
  return rows
    .filter((row) => row.nodeName.includes(query.nodeNameContains ?? ''))
    .filter((row) => after === null || keyOf(row) > keyOf(after))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .slice(0, query.limit);
}

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
