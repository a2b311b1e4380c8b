// The simulated ClickHouse: rows that stay, insert tokens it remembers for a while, and the ports of every Console life
// over its own way to it. The sink is the product's own, over a simulated inserter.

import { SEARCH_TIMEOUT_MS, SINK_INSERT_TIMEOUT_MS } from '../../../machines/limits.ts';
import type { RuntimeEvent } from '../../../machines/wire/event.ts';
import {
  createDirectSink,
  type DirectSinkOptions,
} from '../../../storage/analytics/direct-sink.ts';
import type { EventInserter, InsertOutcome } from '../../../storage/analytics/event-inserter.ts';
import { memoryAnalytics, type PlainAnalytics } from '../../../storage/memory/memory-analytics.ts';
import { portOf, portsOf } from '../../../storage/memory/plumbing/unsafe-port-of.ts';
import { createEventRows, type EventRows } from '../../../storage/memory/telemetry/event-rows.ts';
import {
  createTelemetryRows,
  type TelemetryRowsInMemory,
} from '../../../storage/memory/telemetry/telemetry-rows.ts';
import type { Time } from '../../../storage/ports/plumbing/clock.ts';
import type { Logger } from '../../../storage/ports/plumbing/logger.ts';
import type { AnalyticsStores } from '../../../storage/ports/stores.ts';
import type { StoredBaseline } from '../../../storage/ports/telemetry/baseline-store.ts';
import {
  type EventBatch,
  type EventStore,
  EventStoreUnavailable,
} from '../../../storage/ports/telemetry/event-store.ts';
import type { SensorCoverage } from '../../../storage/ports/telemetry/telemetry-store.ts';
import type { Life } from './life.ts';
import { type AnalyticsFaults, healWay, noWayFaults } from './stores-faults.ts';
import { askOver, createFrozen, createWay, type Way } from './stores-way.ts';
import type { World } from './world.ts';

/** Tokens the store remembers, as its tables are made. */
const TOKENS_REMEMBERED = 1_000;
const WHOLE = {
  ...{ fromMs: 0, toMs: Number.MAX_SAFE_INTEGER },
  ...{ limit: Number.MAX_SAFE_INTEGER, afterSensorId: null },
};

export type SimulatedAnalyticsPorts = AnalyticsStores & {
  /** Commits what the sink holds, then refuses. */
  close(): Promise<void>;
};

export type SimulatedAnalytics = {
  readonly faults: AnalyticsFaults;
  heal(): void;
  /** What is durable, for checkers: every batch as often as it was stored. */
  readonly rows: Pick<EventRows, 'batches' | 'calls'>;
  readonly coverage: TelemetryRowsInMemory['coverage'];
  readonly flow: TelemetryRowsInMemory['flow'];
  readonly flows: TelemetryRowsInMemory['flows'];
  /** Every program of a sensor whose habits are stored. */
  baselines(sensorId: string): readonly StoredBaseline[];
  /** The sums that whoever asks for the whole fleet is shown. */
  coverageOfFleet(): readonly SensorCoverage[];
  portsFor(
    life: Life,
    time: Time,
    more?: { readonly queueRowsMax?: number },
  ): SimulatedAnalyticsPorts;
};

export type AnalyticsStoreOptions = {
  readonly world: World;
  readonly logger: Logger;
  readonly intervals: DirectSinkOptions<EventBatch>['intervals'];
  readonly keyOfEvent: (event: RuntimeEvent) => string;
};

/** Makes an empty event store. */
export function createSimulatedAnalytics(options: AnalyticsStoreOptions): SimulatedAnalytics {
  const { world, logger, intervals } = options;
  const faults: AnalyticsFaults = { ...noWayFaults(), refusesContent: null };
  const rows = createEventRows();
  const telemetryRows = createTelemetryRows();
  const plain = memoryAnalytics({ events: rows, telemetry: telemetryRows });
  const tokens = new Set<string>();
  const frozen = createFrozen(world.scheduler, faults);

  function store(host: string, batches: readonly EventBatch[], token: string): InsertOutcome {
    const { refusesContent } = faults;
    if (refusesContent !== null && batches.some(refusesContent)) {
      return { ok: false, why: 'refused', reason: 'the content is refused' };
    }
    if (tokens.has(token)) return { ok: true };
    remember(tokens, token);
    for (const batch of batches) rows.add(batch);
    world.observe({
      kind: 'events.stored',
      console: host,
      batches: batches.map((batch) => ({
        sensor: batch.sensorId,
        stream: batch.streamId,
        channel: batch.channel,
        sequence: batch.sequence,
        events: batch.events.map(options.keyOfEvent),
        receivedAtMs: batch.receivedAtMs,
      })),
    });
    return { ok: true };
  }

  function wayOf(life: Life, answerMs: number | null, name: string): Way {
    return createWay({
      scheduler: world.scheduler,
      life,
      random: world.random.fork(`${name}/${life.host}/${life.incarnation}`),
      faults,
      frozen,
      limits: { answerMs, connectionsMax: Infinity, connectMs: Infinity },
      unavailable: (reason, wasSent) =>
        Object.assign(new EventStoreUnavailable(`the event store cannot answer: ${reason}`), {
          wasSent,
        }),
    });
  }

  function portsFor(life: Life, time: Time, more: { readonly queueRowsMax?: number } = {}) {
    const questions = wayOf(life, Math.max(SEARCH_TIMEOUT_MS, SINK_INSERT_TIMEOUT_MS), 'events');
    const inserts = wayOf(life, null, 'inserts');
    const ping = () => questions.ask('events.ping', () => true).catch(() => false);
    const inserter: EventInserter<EventBatch> = {
      prepare: (batch) => batch,
      insert: (batches, token, signal) =>
        inserts
          .ask('events.insert', () => store(life.host, batches, token), signal)
          .catch(outcomeOf),
      ping,
    };
    let inserted = 0;
    const sink = createDirectSink({
      inserter,
      timers: time,
      logger,
      intervals,
      ...more,
      newToken: () => {
        inserted += 1;
        return `${life.host}/${life.incarnation}/${inserted}`;
      },
    });
    const events: EventStore = {
      ...portOf<Omit<EventStore, 'ping'>>('events', rows.calls, askOver(questions)),
      ping,
    };
    const tell = askOver(wayOf(life, SEARCH_TIMEOUT_MS, 'telemetry'));
    return { sink, events, ...portsOf<PlainAnalytics>(plain, tell), close: () => sink.close() };
  }

  return {
    faults,
    heal() {
      healWay(faults);
      faults.refusesContent = null;
    },
    rows,
    coverage: telemetryRows.coverage,
    flow: telemetryRows.flow,
    flows: telemetryRows.flows,
    baselines: (sensorId) =>
      plain.baselines.baselinesOf({ sensorId, limit: WHOLE.limit, afterBinary: null }),
    coverageOfFleet: () => telemetryRows.calls.coverageOfFleet(WHOLE),
    portsFor,
  };
}

function remember(tokens: Set<string>, token: string): void {
  tokens.add(token);
  const [oldest] = tokens;
  if (tokens.size > TOKENS_REMEMBERED && oldest !== undefined) tokens.delete(oldest);
}

/** What the client says of an insert that broke. */
function outcomeOf(error: unknown): InsertOutcome {
  if (!(error instanceof EventStoreUnavailable)) throw error;
  const wasSent = 'wasSent' in error && error.wasSent === true;
  return { ok: false, why: wasSent ? 'unknown' : 'not_sent', reason: error.message };
}
