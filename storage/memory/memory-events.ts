// The reference event store: the same promises in plain memory, with switches that a test turns to make the store fail
// before the write, fail after it, or stall. Used by tests and the simulated fleet only.
import type { RuntimeEvent, StoredEvent } from '../../machines/wire/event.ts';
import type {
  EventBatch,
  EventQuery,
  EventSink,
  EventStore,
  StoredRange,
  TransitionRow,
} from '../ports/event-store.ts';
import { EventStoreUnavailable } from '../ports/event-store.ts';
import { nanosTextOf, storedEventOf } from '../ports/stored-event.ts';

export type MemoryEvents = {
  readonly sink: EventSink;
  readonly events: EventStore;
  /** 'fail' stores nothing, 'fail_after' stores and still says no, 'stall' answers once the mode changes. */
  setMode(mode: MemoryMode): void;
};
export type MemoryMode = 'work' | 'fail' | 'fail_after' | 'stall';

type Stored = { readonly batch: EventBatch; readonly events: readonly StoredEvent[] };

/** Makes both ports over one memory. */
export function createMemoryEvents(retryAfterMs: number): MemoryEvents {
  const batches = new Map<string, Stored>();
  const transitions: TransitionRow[] = [];
  let mode: MemoryMode = 'work';
  let isClosed = false;
  let stalled: (() => void)[] = [];
  let queued = 0;

  async function append(
    batch: EventBatch,
  ): Promise<{ ok: true } | { ok: false; retryAfterMs: number }> {
    const refused = { ok: false, retryAfterMs } as const;
    if (batch.events.length === 0) return { ok: true };
    queued += batch.events.length;
    while (mode === 'stall') await new Promise<void>((resolve) => stalled.push(resolve));
    queued -= batch.events.length;
    if (isClosed || mode === 'fail') return refused;
    const events = batch.events.map((event: RuntimeEvent) => storedEventOf(batch, event));
    batches.set(keyOf(batch), { batch, events });
    return mode === 'fail_after' ? refused : { ok: true };
  }

  function distinct(query: Partial<EventQuery>): StoredEvent[] {
    if (mode === 'fail') throw new EventStoreUnavailable('the memory store is told to fail');
    const found = new Map<string, StoredEvent>();
    for (const { events } of batches.values()) {
      for (const event of events) if (matches(event, query)) found.set(event.event_id, event);
    }
    const sign = query.order === 'ascending' ? 1 : -1;
    return [...found.values()].sort((a, b) => sign * compare(a, b));
  }

  const events: EventStore = {
    async search(query) {
      const all = distinct(query);
      const { after } = query;
      const sign = query.order === 'ascending' ? 1 : -1;
      const rest =
        after === undefined || after === null
          ? all
          : all.filter(
              (one) =>
                sign * compare(one, { observed_at: after.observedAt, event_id: after.eventId }) > 0,
            );
      return rest.slice(0, query.limit);
    },
    countDistinct: async (query) => distinct(query).length,
    storedRanges: async () => rangesOf([...batches.values()].map((one) => one.batch)),
    batchDigest: async (batch) => batches.get(keyOf(batch))?.batch.digest ?? null,
    async insertTransitions(rows) {
      transitions.push(...rows);
    },
    transitionsOf: async ({ sensorId, limit, beforeMs }) =>
      transitions
        .filter((row) => row.sensorId === sensorId && row.atMs < (beforeMs ?? Infinity))
        .map((row, at) => ({ row, at }))
        .sort((a, b) => b.row.atMs - a.row.atMs || b.at - a.at)
        .slice(0, limit)
        .map(({ row }) => row),
    setRetentionDays: async () => undefined,
    ping: async () => mode === 'work',
  };
  return {
    events,
    sink: {
      append,
      queuedRows: () => queued,
      async close() {
        isClosed = true;
      },
    },
    setMode(next) {
      mode = next;
      const waiting = stalled;
      stalled = [];
      for (const go of waiting) go();
    },
  };
}

function keyOf(batch: Pick<EventBatch, 'sensorId' | 'streamId' | 'channel' | 'sequence'>): string {
  return JSON.stringify([batch.sensorId, batch.streamId, batch.channel, batch.sequence]);
}

function compare(
  a: Pick<StoredEvent, 'observed_at' | 'event_id'>,
  b: Pick<StoredEvent, 'observed_at' | 'event_id'>,
): number {
  const [left, right] = [nanosOf(a.observed_at), nanosOf(b.observed_at)];
  if (left !== right) return left < right ? -1 : 1;
  return a.event_id < b.event_id ? -1 : a.event_id > b.event_id ? 1 : 0;
}

function nanosOf(timestamp: string): bigint {
  return BigInt(nanosTextOf(timestamp) ?? '0');
}

function matches(event: StoredEvent, query: Partial<EventQuery>): boolean {
  const atNanos = nanosOf(event.observed_at);
  const { fromMs, toMs, sensorId, eventKinds, severities, binaryContains, text } = query;
  const binary = event.process?.binary ?? '';
  const places = [event.message, binary, event.process?.arguments ?? '', event.file?.path ?? ''];
  return (
    (fromMs === undefined || atNanos >= BigInt(Math.floor(fromMs)) * 1_000_000n) &&
    (toMs === undefined || atNanos < BigInt(Math.floor(toMs)) * 1_000_000n) &&
    (sensorId === undefined || event.sensor_id === sensorId) &&
    (eventKinds?.includes(event.event_kind) ?? true) &&
    (severities?.includes(event.severity) ?? true) &&
    contains(binary, binaryContains) &&
    places.some((place) => contains(place, text))
  );
}

function contains(place: string, part: string | undefined): boolean {
  return part === undefined || place.toLowerCase().includes(part.toLowerCase());
}

function rangesOf(batches: readonly EventBatch[]): readonly StoredRange[] {
  const ordered = [...batches].sort((a, b) => a.sequence - b.sequence);
  const open = new Map<string, StoredRange>();
  const ranges: StoredRange[] = [];
  for (const { sensorId, streamId, channel, sequence } of ordered) {
    const key = JSON.stringify([sensorId, streamId, channel]);
    const own = open.get(key);
    if (own !== undefined && own.last + 1 === sequence) {
      const longer = { ...own, last: sequence };
      ranges[ranges.indexOf(own)] = longer;
      open.set(key, longer);
    } else {
      const fresh = { sensorId, streamId, channel, first: sequence, last: sequence };
      ranges.push(fresh);
      open.set(key, fresh);
    }
  }
  return ranges;
}
