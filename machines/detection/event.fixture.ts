// An event with nothing special in it, for tests that change a part of it.
import type { EventProcess, StoredEvent } from '../wire/event.ts';

export const NOON_MS = Date.parse('2026-11-25T12:00:00Z');
export const proc = (
  exec_id: string,
  binary: string,
  more: Partial<EventProcess> = {},
): EventProcess => ({
  ...{ exec_id, pid: 100, binary },
  ...more,
});
export function eventOf(more: Partial<StoredEvent> = {}): StoredEvent {
  return {
    ...{ event_id: '0'.repeat(32), schema_version: 1, severity: 'info', message: 'm' },
    ...{ observed_at: new Date(NOON_MS).toISOString(), event_kind: 'process_exec' },
    ...{ sensor_id: 's', node_name: 'n', received_at: new Date(NOON_MS).toISOString() },
    ...more,
  };
}
