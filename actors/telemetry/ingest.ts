// One batch of events from one sensor: told apart (new, repeat, conflict), stored, and only then acknowledged, by its own
// number and no other. invariant: I1, I6, I9; decision: D6
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { RETRY_AFTER_STORE_MS, TELEMETRY_SENSORS_MAX } from '../../machines/limits.ts';
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import type { Channel } from '../../machines/wire/scalars.ts';
import type { IdentityRecord } from '../../storage/ports/fleet/sensor-registry.ts';
import {
  type EventBatch,
  type EventSink,
  EventStoreUnavailable,
  type SinkOutcome,
} from '../../storage/ports/telemetry/event-store.ts';
import { createLanes } from './lane.ts';
import type { BatchName, BatchStanding, SequenceLedgers } from './sequence-ledger.ts';

export type IngestInput = {
  readonly identity: Pick<IdentityRecord, 'sensorId' | 'nodeName'>;
  readonly streamId: string;
  readonly channel: Channel;
  readonly sequence: number;
  readonly events: readonly RuntimeEvent[];
  readonly receivedAtMs: number;
};

/** `busy` names no fault of the sender: nothing was kept, the same batch is welcome after the time. */
export type IngestOutcome =
  | { readonly ok: true; readonly acknowledged: number; readonly repeated: boolean }
  | { readonly ok: false; readonly busy: true; readonly retryAfterMs: number }
  | (Refusal & { readonly busy: false });

type NamedBatch = BatchName & { readonly digest: string };
export type BatchListener = (batch: EventBatch) => void;

export type Ingest = {
  /** Stores one batch. Never rejects. */
  ingest(input: IngestInput): Promise<IngestOutcome>;
  /** Batches as they arrive, before they are durable. Listeners may not throw. */
  onReceived(listener: BatchListener): () => void;
  /** Batches that are durable; repeats are not told again. Listeners may not throw. */
  onStored(listener: BatchListener): () => void;
  /**
   * Batches that are durable already: this Console may never have heard that it stored them, or another one did and died.
   * Listeners may not throw.
   */
  onRepeated(listener: BatchListener): () => void;
  readonly ledgers: Pick<SequenceLedgers, 'highest' | 'gapsOf'>;
};

const DIGEST_CHARS = 32;

/** Makes the ingest over a sink and the ledgers. */
export function createIngest(deps: {
  readonly sink: Pick<EventSink, 'append'>;
  readonly ledgers: SequenceLedgers;
  readonly retryAfterMs?: number;
}): Ingest {
  const { sink, ledgers, retryAfterMs = RETRY_AFTER_STORE_MS } = deps;
  const lanes = createLanes();
  const received = createReceipts();
  const arrived = new Set<BatchListener>();
  const stored = new Set<BatchListener>();
  const repeated = new Set<BatchListener>();
  const busy: IngestOutcome = { ok: false, busy: true, retryAfterMs };

  // The ordinary batch is judged without waiting, and its events are not held while they are written.
  function store(batch: EventBatch): Promise<IngestOutcome> {
    const standing = ledgers.standingOf(batch);
    return typeof standing === 'string' ? settle(batch, standing) : storeLater(batch, standing);
  }

  async function storeLater(
    batch: EventBatch,
    asked: Promise<BatchStanding>,
  ): Promise<IngestOutcome> {
    try {
      return await settle(batch, await asked);
    } catch (error) {
      if (error instanceof EventStoreUnavailable) return busy;
      throw error;
    }
  }

  function settle(batch: EventBatch, standing: BatchStanding): Promise<IngestOutcome> {
    if (standing === 'conflict') return Promise.resolve(conflictOf(batch));
    if (standing === 'repeat') {
      for (const listener of repeated) listener(batch);
      return Promise.resolve(acknowledge(batch.sequence, true));
    }
    for (const listener of arrived) listener(batch);
    return finish(nameOf(batch), stored.size > 0 ? batch : null, sink.append(batch));
  }

  async function finish(
    name: NamedBatch,
    watched: EventBatch | null,
    writing: Promise<SinkOutcome>,
  ): Promise<IngestOutcome> {
    const outcome = await writing;
    if (!outcome.ok) return { ok: false, busy: true, retryAfterMs: outcome.retryAfterMs };
    ledgers.stored(name);
    if (watched !== null) for (const listener of stored) listener(watched);
    return acknowledge(name.sequence, false);
  }

  return {
    ingest(input) {
      if (input.sequence < 1) return Promise.resolve({ ...noNumber(), busy: false });
      const batch = batchOf(input);
      return lanes.run(batch.sensorId, () => store(received(batch))) ?? Promise.resolve(busy);
    },
    onReceived: (listener) => add(arrived, listener),
    onStored: (listener) => add(stored, listener),
    onRepeated: (listener) => add(repeated, listener),
    ledgers,
  };
}

// The order in which a sensor's batches became durable is the order of their receipts, so that it can be read back.
function createReceipts(): (batch: EventBatch) => EventBatch {
  const receipts = new LRUCache<string, number>({
    ...{ maxSize: TELEMETRY_SENSORS_MAX, sizeCalculation: () => 1 },
  });
  return (batch) => {
    const least = (receipts.get(batch.sensorId) ?? Number.NEGATIVE_INFINITY) + 1;
    const receivedAtMs = Math.max(batch.receivedAtMs, least);
    receipts.set(batch.sensorId, receivedAtMs);
    return receivedAtMs === batch.receivedAtMs ? batch : { ...batch, receivedAtMs };
  };
}

function batchOf({ identity, events, ...input }: IngestInput): EventBatch {
  return {
    sensorId: identity.sensorId,
    nodeName: identity.nodeName,
    streamId: input.streamId,
    channel: input.channel,
    sequence: input.sequence,
    digest: digestOf(events),
    receivedAtMs: input.receivedAtMs,
    events,
  };
}

/** The digest of a batch: its event ids in order. */
export function digestOf(events: readonly RuntimeEvent[]): string {
  let ids = '';
  for (const event of events) ids += event.event_id;
  return hash('sha256', ids, 'hex').slice(0, DIGEST_CHARS);
}

function nameOf({ sensorId, streamId, channel, sequence, digest }: EventBatch): NamedBatch {
  return { sensorId, streamId, channel, sequence, digest };
}

function acknowledge(sequence: number, repeated: boolean): IngestOutcome {
  return { ok: true, acknowledged: sequence, repeated };
}

function add(listeners: Set<BatchListener>, listener: BatchListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function conflictOf(batch: EventBatch): IngestOutcome {
  const detail = `Batch ${batch.sequence} of channel ${batch.channel} holds other events.`;
  return { ...refuse('sequence_conflict', detail), busy: false };
}

function noNumber(): Refusal {
  return refuse('schema_violation', 'A batch with events needs a number.', {
    errors: [{ pointer: '/sequence', detail: 'must be 1 or more' }],
  });
}
