// The events of a batch in the order in which the store tells them: by time, then by id. decision: D131
import type { StoredEvent } from '../../machines/wire/event.ts';
import type { EventBatch } from '../../storage/ports/telemetry/event-store.ts';
import { storedEventOf } from '../../storage/ports/telemetry/stored-event.ts';

const SECOND_CHARS = 19;
const FRACTION_DIGITS = 9;

/** The batch as it is read back. */
export function arrivalOrder(batch: EventBatch): readonly StoredEvent[] {
  return batch.events
    .map((event) => storedEventOf(batch, event))
    .map((event) => ({ event, key: `${fullTime(event.observed_at)} ${event.event_id}` }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ event }) => event);
}

function fullTime(text: string): string {
  return (
    text.slice(0, SECOND_CHARS) + text.slice(SECOND_CHARS + 1, -1).padEnd(FRACTION_DIGITS, '0')
  );
}
