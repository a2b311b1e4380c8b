// Lets the live channel see events once they are durable: a sink around the real one that tells its listeners after a
// batch was stored, never before. invariant: I1
import type { EventBatch, EventSink } from '../../storage/ports/telemetry/event-store.ts';

export type StoredBatchListener = (batch: EventBatch) => void;
export type EventTap = {
  readonly sink: EventSink;
  subscribe(listener: StoredBatchListener): () => void;
};

/** Wraps a sink. Listeners must be quick; one that throws is ignored, for storage must not fail by it. */
export function tapSink(sink: EventSink): EventTap {
  const listeners = new Set<StoredBatchListener>();
  return {
    sink: {
      async append(batch) {
        const outcome = await sink.append(batch);
        if (outcome.ok) for (const listener of listeners) tell(listener, batch);
        return outcome;
      },
      queuedRows: () => sink.queuedRows(),
      close: () => sink.close(),
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function tell(listener: StoredBatchListener, batch: EventBatch): void {
  try {
    listener(batch);
  } catch {
    // A watcher's failure is the watcher's own.
  }
}
