// Mistakes on an event's way through the Console: what is confirmed, under which name and in which order it is stored.
import type { EventBatch, EventSink } from '../../../storage/ports/telemetry/event-store.ts';
import type { ConsoleTampering } from '../world/console-host.ts';
import type { PlantedBug } from './planted-bug.ts';
import { CALM } from './settings.ts';

/** The engine writes often. */
const BUSY = { ...CALM, hours: 0.05, quietMs: 2_000 } as const;

function tamperSink(change: (sink: EventSink) => Partial<EventSink>): ConsoleTampering {
  return {
    analytics: (ports) => ({ ...ports, sink: { ...ports.sink, ...change(ports.sink) } }),
  };
}

/** Every batch is changed on its way to the store. */
function changeBatches(change: (batch: EventBatch) => EventBatch): ConsoleTampering {
  return tamperSink((sink) => ({ append: (batch) => sink.append(change(batch)) }));
}

export const DELIVERY_BUGS: readonly PlantedBug[] = [
  {
    name: 'sink-forgets',
    mistake: 'The sink says stored for every fifth batch and keeps nothing of it.',
    foundBy: 'acknowledged-is-durable',
    options: BUSY,
    pinnedSeed: '1',
    console() {
      let batches = 0;
      return tamperSink((sink) => ({
        async append(batch) {
          batches += 1;
          return batches % 5 === 0 ? { ok: true } : sink.append(batch);
        },
      }));
    },
  },
  {
    name: 'ack-before-commit',
    mistake: 'A batch is confirmed when it is queued, before its group is committed.',
    foundBy: 'acknowledged-is-durable',
    options: { ...BUSY, hours: 0.1, kinds: ['analytics.slow'], faultsPerHour: 60 },
    pinnedSeed: '1',
    console: () =>
      tamperSink((sink) => ({
        async append(batch) {
          void sink.append(batch);
          return { ok: true };
        },
      })),
  },
  {
    name: 'wrong-sensor',
    mistake: 'Every batch is stored under the sensor that sent the first one.',
    foundBy: 'identity-from-certificate',
    options: { ...BUSY, sensors: 2 },
    pinnedSeed: '1',
    console() {
      let first: string | null = null;
      return changeBatches((batch) => {
        first ??= batch.sensorId;
        return { ...batch, sensorId: first };
      });
    },
  },
  {
    name: 'batch-turned-round',
    mistake: 'The events of a batch are stored newest first.',
    foundBy: 'channel-order',
    options: BUSY,
    pinnedSeed: '1',
    console: () => changeBatches((batch) => ({ ...batch, events: batch.events.toReversed() })),
  },
  {
    name: 'number-used-twice',
    mistake: 'Two batches of a channel are stored under one number.',
    foundBy: 'channel-order',
    options: BUSY,
    pinnedSeed: '1',
    console: () =>
      changeBatches((batch) => ({ ...batch, sequence: Math.ceil(batch.sequence / 2) })),
  },
  {
    name: 'short-event-ids',
    mistake: 'Event ids are cut to one character, so that two events share one.',
    foundBy: 'removable-duplicates',
    options: BUSY,
    pinnedSeed: '1',
    console: () =>
      changeBatches((batch) => ({
        ...batch,
        events: batch.events.map((event) => ({
          ...event,
          event_id: event.event_id.slice(0, 1).repeat(32),
        })),
      })),
  },
  {
    name: 'new-id-at-a-repeat',
    mistake: 'The id of an event holds the time of its arrival, so that a repeat has another one.',
    foundBy: 'removable-duplicates',
    options: { ...BUSY, hours: 0.15, kinds: ['analytics.unsure'], faultsPerHour: 200 },
    pinnedSeed: '1',
    console: () =>
      changeBatches((batch) => ({
        ...batch,
        events: batch.events.map((event) => ({
          ...event,
          event_id: `${batch.receivedAtMs.toString(16).padStart(12, '0')}${event.event_id.slice(12)}`,
        })),
      })),
  },
];
