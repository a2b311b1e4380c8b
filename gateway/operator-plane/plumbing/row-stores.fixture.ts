// What the fixture's event store answers out of plain rows.
import type { StoredEvent } from '../../../machines/wire/event.ts';
import { createEventRows } from '../../../storage/memory/telemetry/event-rows.ts';

/** Questions about these events, as the reference store answers them. */
export function searchOver(events: readonly StoredEvent[]) {
  const rows = createEventRows();
  for (const [at, event] of events.entries()) {
    rows.add({
      ...{ sensorId: event.sensor_id, nodeName: event.node_name, events: [event] },
      ...{ streamId: '', channel: 'stream', sequence: at + 1, digest: '' },
      receivedAtMs: Date.parse(event.received_at),
    });
  }
  return rows.calls;
}
