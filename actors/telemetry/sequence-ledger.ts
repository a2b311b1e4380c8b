// The ledgers of every channel in memory, filled from the event store before the port opens. Recent digests tell a
// repeat from a conflict without a query; for older numbers, and for what the ledger is unsure of, the store is asked.
// Bounded: a sensor has so many ledgers, and a forgotten one becomes unsure, never wrong. invariant: I1, I10
import {
  addRange,
  addStored,
  EMPTY_LEDGER,
  ledgerFrom,
  lookUp,
  missingInGaps,
  type SequenceLedger,
  UNSURE_LEDGER,
} from '../../machines/console/telemetry/sequence.rules.ts';
import {
  SEQUENCE_DIGESTS_PER_CHANNEL_MAX,
  SEQUENCE_LEDGERS_PER_SENSOR_MAX,
} from '../../machines/limits.ts';
import type { Channel } from '../../machines/wire/scalars.ts';
import type { EventBatch, EventStore } from '../../storage/ports/telemetry/event-store.ts';

export type BatchName = Pick<EventBatch, 'sensorId' | 'streamId' | 'channel' | 'sequence'>;
export type BatchStanding = 'unseen' | 'repeat' | 'conflict';

export type SequenceLedgers = {
  /** Fills the ledgers; call it before anything is served. Throws EventStoreUnavailable. */
  load(): Promise<void>;
  /** What a batch is to the Console. Answers at once in the ordinary case. Rejects with EventStoreUnavailable. */
  standingOf(
    batch: BatchName & { readonly digest: string },
  ): BatchStanding | Promise<BatchStanding>;
  /** Records a batch that is durable now. */
  stored(batch: BatchName & { readonly digest: string }): void;
  /** The highest stored number of a channel; 0 before the first. */
  highest(name: Omit<BatchName, 'sequence'>): number;
  /** Numbers missing and lost of one sensor, over all its channels. */
  gapsOf(sensorId: string): { readonly missing: number; readonly lost: number };
};

type Digests = { readonly sequences: number[]; readonly values: string[]; next: number };
type Held = { ledger: SequenceLedger; digests: Digests };
type OfSensor = { readonly held: Map<string, Held>; hasForgotten: boolean };

/** Makes the ledgers over an event store. */
export function createSequenceLedgers(
  store: Pick<EventStore, 'storedRanges' | 'batchDigest'>,
): SequenceLedgers {
  const sensors = new Map<string, OfSensor>();

  function of(sensorId: string): OfSensor {
    const known = sensors.get(sensorId);
    if (known !== undefined) return known;
    const made: OfSensor = { held: new Map(), hasForgotten: false };
    sensors.set(sensorId, made);
    return made;
  }

  function find(sensorId: string, streamId: string, channel: Channel): Held | undefined {
    return sensors.get(sensorId)?.held.get(`${streamId}/${channel}`);
  }

  function open(sensorId: string, streamId: string, channel: Channel): Held {
    const found = find(sensorId, streamId, channel);
    if (found !== undefined) return found;
    const own = of(sensorId);
    if (own.held.size >= SEQUENCE_LEDGERS_PER_SENSOR_MAX) {
      const [oldest] = own.held.keys();
      if (oldest !== undefined) own.held.delete(oldest);
      own.hasForgotten = true;
    }
    // Once one was forgotten, a name that is not held may be that one.
    const made: Held = {
      ledger: own.hasForgotten ? UNSURE_LEDGER : EMPTY_LEDGER,
      digests: { sequences: [], values: [], next: 0 },
    };
    own.held.set(`${streamId}/${channel}`, made);
    return made;
  }

  async function ask(batch: BatchName & { readonly digest: string }): Promise<BatchStanding> {
    const { sensorId, streamId, channel, sequence } = batch;
    const digest = await store.batchDigest({ sensorId, streamId, channel, sequence });
    if (digest === null) return 'unseen';
    return digest === batch.digest ? 'repeat' : 'conflict';
  }

  return {
    async load() {
      const ranges = await store.storedRanges();
      sensors.clear();
      for (const range of ranges.toSorted((a, b) => a.first - b.first)) {
        const held = open(range.sensorId, range.streamId, range.channel);
        if (held.ledger === EMPTY_LEDGER) held.ledger = ledgerFrom(range.first);
        held.ledger = addRange(held.ledger, range);
      }
    },
    standingOf(batch) {
      const held = find(batch.sensorId, batch.streamId, batch.channel);
      if (held === undefined) {
        return sensors.get(batch.sensorId)?.hasForgotten === true ? ask(batch) : 'unseen';
      }
      const known = lookUp(held.ledger, batch.sequence);
      if (known === 'unseen') return 'unseen';
      const recent = digestOf(held.digests, batch.sequence);
      if (recent === undefined) return ask(batch);
      return recent === batch.digest ? 'repeat' : 'conflict';
    },
    stored(batch) {
      const held = open(batch.sensorId, batch.streamId, batch.channel);
      held.ledger = addStored(held.ledger, batch.sequence);
      remember(held.digests, batch.sequence, batch.digest);
    },
    highest: ({ sensorId, streamId, channel }) =>
      find(sensorId, streamId, channel)?.ledger.highest ?? 0,
    gapsOf(sensorId) {
      let missing = 0;
      let lost = 0;
      for (const { ledger } of sensors.get(sensorId)?.held.values() ?? []) {
        missing += missingInGaps(ledger);
        lost += ledger.lost;
      }
      return { missing, lost };
    },
  };
}

function digestOf(digests: Digests, sequence: number): string | undefined {
  const at = digests.sequences.lastIndexOf(sequence);
  return at === -1 ? undefined : digests.values[at];
}

function remember(digests: Digests, sequence: number, digest: string): void {
  digests.sequences[digests.next] = sequence;
  digests.values[digests.next] = digest;
  digests.next = (digests.next + 1) % SEQUENCE_DIGESTS_PER_CHANNEL_MAX;
}
