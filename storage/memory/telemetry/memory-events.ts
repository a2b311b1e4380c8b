// The reference event store: the same promises in plain memory, with switches that a test turns to make the store fail
// before the write, fail after it, or stall. Used by tests only.
import { SINK_QUEUE_ROWS_MAX } from '../../../machines/limits.ts';
import type { AnalyticsStores } from '../../ports/stores.ts';
import {
  type EventSink,
  type EventStore,
  EventStoreUnavailable,
  type SinkOutcome,
} from '../../ports/telemetry/event-store.ts';
import { memoryAnalytics, type PlainAnalytics } from '../memory-analytics.ts';
import { type Ask, portOf, portsOf } from '../plumbing/unsafe-port-of.ts';
import { createEventRows, type EventRows } from './event-rows.ts';
import { createTelemetryRows } from './telemetry-rows.ts';

export type MemoryEvents = AnalyticsStores & {
  /**
   * 'fail' stores nothing and answers no question, 'fail_after' stores and still says no, 'stall' answers once the mode
   * changes.
   */
  setMode(mode: MemoryMode): void;
};
export type MemoryMode = 'work' | 'fail' | 'fail_after' | 'stall';

type Memory = {
  readonly rows: EventRows;
  mode: MemoryMode;
  /** Appends that wait for another mode. */
  stalled: (() => void)[];
};

/** Makes both ports over one memory. */
export function createMemoryEvents(
  retryAfterMs: number,
  queueRowsMax: number = SINK_QUEUE_ROWS_MAX,
): MemoryEvents {
  const memory: Memory = { rows: createEventRows(), mode: 'work', stalled: [] };
  const plain = memoryAnalytics({ events: memory.rows, telemetry: createTelemetryRows() });
  return {
    events: createStore(memory),
    ...portsOf<PlainAnalytics>(plain, askOf(memory)),
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
      memory.rows.add(batch);
      return memory.mode === 'fail_after' ? refused : { ok: true };
    },
    queuedRows: () => queued,
    async close() {
      isClosed = true;
      wake(memory);
    },
  };
}

function askOf(memory: Memory): Ask {
  return async (_name, effect) => {
    if (memory.mode === 'fail') throw new EventStoreUnavailable('the memory store is told to fail');
    return effect();
  };
}

function createStore(memory: Memory): EventStore {
  return {
    ...portOf<Omit<EventStore, 'ping'>>('events', memory.rows.calls, askOf(memory)),
    ping: async () => memory.mode === 'work',
  };
}
