// The reference event store: the same promises in plain memory, with switches that a test turns to make the store fail
// before the write, fail after it, or stall. Used by tests and the simulated fleet only.
import { SINK_QUEUE_ROWS_MAX } from '../../machines/limits.ts';
import type { RuntimeEvent, StoredEvent } from '../../machines/wire/event.ts';
import type {
  EventBatch,
  EventQuery,
  EventSink,
  EventStore,
  SinkOutcome,
  StoredRange,
  TransitionRow,
} from '../ports/event-store.ts';
import { EventStoreUnavailable } from '../ports/event-store.ts';
import { nanosTextOf, storedEventOf } from '../ports/stored-event.ts';

export type MemoryEvents = {
  readonly sink: EventSink;
  readonly events: EventStore;
  /**
   * 'fail' stores nothing and answers no question, 'fail_after' stores and still says no, 'stall' answers once the mode
   * changes.
   */
  setMode(mode: MemoryMode): void;
};
export type MemoryMode = 'work' | 'fail' | 'fail_after' | 'stall';

type Stored = { readonly batch: EventBatch; readonly events: readonly StoredEvent[] };
type Memory = {
  readonly batches: Map<string, Stored>;
  readonly transitions: TransitionRow[];
  mode: MemoryMode;
  /** Appends that wait for another mode. */
  stalled: (() => void)[];
};

/** Makes both ports over one memory. */
export function createMemoryEvents(
  retryAfterMs: number,
  queueRowsMax: number = SINK_QUEUE_ROWS_MAX,
): MemoryEvents {
  const memory: Memory = { batches: new Map(), transitions: [], mode: 'work', stalled: [] };
  return {
    events: createStore(memory),
    sink: createSink(memory, { retryAfterMs, queueRowsMax }),
    setMode(next) {
      memory.mode = next;
      wake(memory);
    },
  };
}

function wake(memory: Memory): void {
  const waiting = memory.stalled;
  memory.stalled = [];
  for (const go of waiting) go();
}

function createSink(
  memory: Memory,
  limits: { readonly retryAfterMs: number; readonly queueRowsMax: number },
): EventSink {
  const refused: SinkOutcome = { ok: false, retryAfterMs: limits.retryAfterMs };
  let isClosed = false;
  let queued = 0;
  return {
    async append(batch) {
      if (batch.events.length === 0) return { ok: true };
      if (isClosed || queued + batch.events.length > limits.queueRowsMax) return refused;
      queued += batch.events.length;
      while (memory.mode === 'stall' && !isClosed) {
        await new Promise<void>((resolve) => memory.stalled.push(resolve));
      }
      queued -= batch.events.length;
      if (isClosed || memory.mode === 'fail') return refused;
      const events = batch.events.map((event: RuntimeEvent) => storedEventOf(batch, event));
      memory.batches.set(keyOf(batch), { batch, events });
      return memory.mode === 'fail_after' ? refused : { ok: true };
    },
    queuedRows: () => queued,
    async close() {
      isClosed = true;
      wake(memory);
    },
  };
}

function createStore(memory: Memory): EventStore {
  const { batches, transitions } = memory;
  function check(): void {
    if (memory.mode === 'fail') throw new EventStoreUnavailable('the memory store is told to fail');
  }
  return {
    async search(query) {
      check();
      return pageOf(distinct(memory, query), query);
    },
    async countDistinct(query) {
      check();
      return distinct(memory, query).length;
    },
    async storedRanges() {
      check();
      return rangesOf([...batches.values()].map((one) => one.batch));
    },
    async batchDigest(batch) {
      check();
      return batches.get(keyOf(batch))?.batch.digest ?? null;
    },
    async insertTransitions(rows) {
      check();
      transitions.push(...rows);
    },
    async transitionsOf({ sensorId, limit, beforeMs }) {
      check();
      return transitions
        .filter((row) => row.sensorId === sensorId && row.atMs < (beforeMs ?? Infinity))
        .map((row, at) => ({ row, at }))
        .sort((a, b) => b.row.atMs - a.row.atMs || b.at - a.at)
        .slice(0, limit)
        .map(({ row }) => row);
    },
    async setRetentionDays(days) {
      check();
      if (!Number.isSafeInteger(days) || days < 1) throw new Error('retention is whole days');
    },
    ping: async () => memory.mode === 'work',
  };
}

function distinct(memory: Memory, query: Partial<EventQuery>): readonly StoredEvent[] {
  const found = new Map<string, StoredEvent>();
  for (const { events } of memory.batches.values()) {
    for (const event of events) if (matches(event, query)) found.set(event.event_id, event);
  }
  const sign = query.order === 'ascending' ? 1 : -1;
  return [...found.values()].sort((a, b) => sign * compare(a, b));
}

function pageOf(all: readonly StoredEvent[], query: EventQuery): readonly StoredEvent[] {
  const { after = null, limit } = query;
  if (after === null) return all.slice(0, limit);
  const sign = query.order === 'ascending' ? 1 : -1;
  const from = { observed_at: after.observedAt, event_id: after.eventId };
  return all.filter((one) => sign * compare(one, from) > 0).slice(0, limit);
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
