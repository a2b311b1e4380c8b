// Telemetry: what sensors tell, stored before it is confirmed. The sequence ledgers and inventory hashes are read back
// before anything is served. decision: D5, D6; invariant: I1
import { createSinkFloor } from '../../../actors/siem/sink-floor.ts';
import { createIngest, type Ingest } from '../../../actors/telemetry/ingest.ts';
import { createInventory, type Inventory } from '../../../actors/telemetry/inventory.ts';
import { RETENTION_LOOP, retentionLoop } from '../../../actors/telemetry/retention-loop.ts';
import { createSequenceLedgers } from '../../../actors/telemetry/sequence-ledger.ts';
import { createTelemetry, type Telemetry } from '../../../actors/telemetry/telemetry.ts';
import { settledOf } from '../../../actors/telemetry/telemetry-rows.ts';
import { SENSOR_PATHS } from '../../../machines/wire/enrollment.ts';
import type { Capability, ConsoleContext } from '../../capability.ts';
import { type EventTap, tapSink } from '../../live/event-tap.ts';
import { coverageRoutes } from '../../operator-plane/telemetry/coverage.ts';
import { eventProcessRoutes } from '../../operator-plane/telemetry/event-processes.ts';
import { eventRateRoutes } from '../../operator-plane/telemetry/event-rate.ts';
import { eventStatementRoute } from '../../operator-plane/telemetry/event-statement.ts';
import { eventStatisticsRoutes } from '../../operator-plane/telemetry/event-statistics.ts';
import { eventRoutes } from '../../operator-plane/telemetry/events.ts';
import {
  createSearchTurns,
  type SearchTurns,
} from '../../operator-plane/telemetry/search-turns.ts';
import { sensorEventRoutes } from '../../operator-plane/telemetry/sensor-events.ts';
import { sensorTelemetryRoutes } from '../../operator-plane/telemetry/sensor-telemetry.ts';
import { handleEvents } from '../../sensor-plane/events-route.ts';
import type { HeartbeatPart } from '../../sensor-plane/heartbeat-part.ts';
import { handleHeartbeat } from '../../sensor-plane/heartbeat-route.ts';
import { handleInventory } from '../../sensor-plane/inventory-route.ts';
import type { SensorPost } from '../../sensor-plane/sensor-plane.ts';
import { createStreamHub, type StreamHub } from '../../sensor-plane/stream-hub.ts';
import { attachStream } from '../../sensor-plane/stream-route.ts';
import { fleet } from '../fleet/fleet.ts';
import { settings } from '../settings/settings.ts';
import { trust } from '../trust/trust.ts';

export type TelemetryService = {
  readonly ingest: Ingest;
  readonly streams: StreamHub;
  /** Tells of events once they are durable. */
  readonly tap: EventTap;
  /** Whose question for events is answered next. */
  readonly searches: SearchTurns;
};

export const telemetry: Capability<TelemetryService> = {
  name: 'telemetry',
  async open(context) {
    const { relational, analytics, logger, time, intervals, config, cursors } = context;
    const { get, subscribe } = context.use(settings);
    const { admission } = context.use(trust);
    const { sensors } = context.use(fleet);
    const { events } = analytics;
    await events.setRetentionDays(get().analyticsRetentionDays);
    const stopFollowing = subscribe((now, before) => {
      if (now.analyticsRetentionDays === before.analyticsRetentionDays) return;
      context.loops.wake(RETENTION_LOOP);
    });
    const floor = createSinkFloor({
      ...{ sink: analytics.sink, floors: relational.sinkFloors, logger },
      life: `${context.holder}/${context.chance.newId()}`,
      ...{ now: time.now, monotonicNow: time.monotonicNow },
    });
    await floor.join();
    const tap = tapSink(floor.sink);
    const ledgers = createSequenceLedgers(events);
    await ledgers.load();
    const { baselines, telemetry: store } = analytics;
    const { platform } = config;
    const inventory = createInventory({
      ...{ store: relational.inventory, baselines, platform, logger },
      refresh: (sensorId) => void hub.send(sensorId, { type: 'refresh', what: ['inventory'] }),
    });
    await inventory.load();
    const reports = createTelemetry({ store, intervals, logger });
    const ingest = createIngest({ sink: tap.sink, ledgers });
    const { audit } = relational;
    const { nodeMachines } = context.use(fleet);
    const streaming = { ...admission, logger, sensors, ingest, audit, nodeMachines };
    const hub = createStreamHub(streaming);
    const searches = createSearchTurns();
    const routes = {
      ...{ registry: relational.sensors, events, cursors, now: time.now },
      searches,
      telemetry: { ...store, ...baselines, inventory: relational.inventory },
    };
    return {
      service: { ingest, streams: hub, tap, searches: routes.searches },
      operatorRoutes: () => [
        coverageRoutes(routes),
        sensorTelemetryRoutes(routes),
        sensorEventRoutes(routes),
        eventRoutes(routes),
        eventStatisticsRoutes(routes),
        eventStatementRoute(routes),
        eventProcessRoutes(routes),
        eventRateRoutes(routes),
      ],
      sensorPosts: postsOf(context, { ingest, inventory }),
      heartbeatParts: [inventoryPart(inventory), reportsPart(reports)],
      attachSockets: (app, { sensor }) => attachStream(app, streaming, hub, sensor),
      loops: () => [retentionLoop({ settings: { get }, events }), reports.loop, floor.loop],
      drain: () => hub.shutDown(),
      async close() {
        hub.dispose();
        stopFollowing();
        await reports.close();
        await floor.leave();
      },
    };
  },
};

function postsOf(
  context: ConsoleContext,
  { ingest, inventory }: { readonly ingest: Ingest; readonly inventory: Inventory },
): readonly SensorPost[] {
  const { admission } = context.use(trust);
  const { sensors } = context.use(fleet);
  const { facts } = context.relational;
  let known: readonly HeartbeatPart[] | null = null;
  const parts = () => {
    known ??= context.contributions().flatMap((one) => one.heartbeatParts ?? []);
    return known;
  };
  const { platform } = context.config;
  const heartbeat = { ...admission, sensors, facts, ingest, parts, platform };
  return [
    { path: SENSOR_PATHS.heartbeat, answer: (exchange) => handleHeartbeat(heartbeat, exchange) },
    {
      path: SENSOR_PATHS.events,
      answer: (exchange) => handleEvents({ ...admission, ingest }, exchange),
    },
    {
      path: SENSOR_PATHS.inventory,
      answer: (exchange) => handleInventory({ ...admission, inventory }, exchange),
    },
  ];
}

function inventoryPart(inventory: Inventory): HeartbeatPart {
  return {
    take({ sensorId }, beat, nowMs) {
      for (const section of ['connections', 'listening_services'] as const) {
        const told = {
          ...{ items: beat[section], hash: beat.section_hashes?.[section] },
          total: beat.section_totals?.[section],
        };
        inventory.observe(sensorId, section, told, nowMs);
      }
    },
    answer: (sensorId) => ({ stored_sections: inventory.storedSections(sensorId) }),
  };
}

function reportsPart(reports: Telemetry): HeartbeatPart {
  return {
    take: (identity, beat, nowMs) => reports.observe(identity, beat, nowMs),
    // Everything the loss ledger ever settled.
    facts: (_, { loss }) => (loss === undefined ? {} : { loss: settledOf(loss.total) }),
    answer(sensorId) {
      const stored = reports.storedReport(sensorId);
      return stored === undefined ? {} : { loss_stored: stored };
    },
  };
}
