// What is accepted must not spoil the insert it travels in: one line of valid JSON an event, well-formed text, and an
// instant that the event store can hold.

import type { RuntimeEvent } from '../../machines/wire/event.ts';
import { encodeBatch } from '../../storage/analytics/encode-batch.ts';
import { demand } from './target.ts';

const RECEIVED_AT_MS = 1_772_600_000_000;
/** DateTime64 with nanoseconds ends in the year 2262. */
const NANOS_MAX = 2n ** 63n - 1n;

/** Checks the lines that a batch of accepted events becomes. */
export function checkStorable(events: readonly RuntimeEvent[]): void {
  const text = encodeBatch({
    sensorId: '00000000-0000-4000-8000-000000000000',
    nodeName: 'node-1',
    receivedAtMs: RECEIVED_AT_MS,
    streamId: '0'.repeat(32),
    channel: 'batch',
    sequence: 1,
    digest: '0',
    events,
  });
  demand(text.isWellFormed() && !/\\ud[89a-f]/i.test(text), 'a stored line is not well-formed');
  const lines = text.split('\n');
  demand(lines.pop() === '', 'a stored batch does not end its last line');
  demand(lines.length === events.length, 'an event does not become exactly one line');
  for (const line of lines) {
    const row: { readonly sensor_id: string } = JSON.parse(line);
    demand(row.sensor_id.startsWith('00000000'), 'a body named the sensor itself');
    const nanos = BigInt(/"observed_at":(-?\d+),/.exec(line)?.[1] ?? '-1');
    demand(nanos >= 0n && nanos <= NANOS_MAX, 'a stored instant cannot be held by the store');
  }
}
