// The real ports over a way that a test can break, so that the store itself is never restarted for it.
import type { Logger } from '../../actors/runtime/logger.ts';
import { DEFAULT_INTERVALS } from '../../machines/intervals.ts';
import { createAnalytics } from '../../storage/analytics/analytics.ts';
import { createAnalyticsClient } from '../../storage/analytics/client.ts';
import { createDirectSink } from '../../storage/analytics/direct-sink.ts';
import { createEventInserter } from '../../storage/analytics/event-inserter.ts';
import type { ClickhouseEndpoint } from '../../storage/embedded/store-launcher.ts';
import type { FactWriter } from '../../storage/ports/fleet/sensor-registry.ts';
import type { Timers } from '../../storage/ports/plumbing/clock.ts';
import type { EventStore } from '../../storage/ports/telemetry/event-store.ts';
import { writeFactRows } from '../../storage/relational/fleet/fact-rows.ts';
import { createFactWriter } from '../../storage/relational/fleet/fact-writer.ts';
import { createRelational, type Relational } from '../../storage/relational/relational.ts';
import type { SinkHarness } from './event-sink.contract.ts';
import { openRelay, type RelayFault } from './relay.ts';

const silent = () => undefined;
export const silentLogger: Logger = {
  debug: silent,
  info: silent,
  warn: silent,
  error: silent,
  child: () => silentLogger,
};
const timers: Timers = {
  now: () => Date.now(),
  setTimeout: (run, delayMs) => setTimeout(run, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};
const intervals = {
  ...DEFAULT_INTERVALS,
  SINK_COMMIT_INTERVAL_MS: 20,
  FACTS_COMMIT_INTERVAL_MS: 20,
  STORE_PROBE_INTERVAL_MS: 50,
};
/** What stores are opened with beside their address. */
export const relationalOptions = { timers, logger: silentLogger, intervals };
const shared = relationalOptions;

/** A fact writer of its own, with a queue of its own, on the same database. */
export function openFactWriter(db: Relational['db'], queueRowsMax: number): FactWriter {
  return createFactWriter({ write: (rows) => writeFactRows(db, rows), ...shared, queueRowsMax });
}

/** Every relational port on one database. */
export async function openRealRelational(url: string) {
  const target = new URL(url);
  const relay = await openRelay(Number(target.port));
  target.port = String(relay.port);
  const relational = createRelational({ url: target.toString(), ...shared });
  return {
    relational,
    relay,
    setAway: (away: boolean) => relay.setFault(away ? 'away' : 'none'),
    async close() {
      await relational.close();
      await relay.close();
    },
  };
}

/** Both analytics ports on one store. */
export async function openRealAnalytics(endpoint: ClickhouseEndpoint) {
  const relay = await openRelay(Number(new URL(endpoint.url).port));
  const url = `http://127.0.0.1:${relay.port}`;
  const analytics = createAnalytics({ ...endpoint, url, ...shared });
  return {
    analytics,
    setAway: (away: boolean) => relay.setFault(away ? 'away' : 'none'),
    setFault: (fault: RelayFault) => relay.setFault(fault),
    async close() {
      await analytics.close();
      await relay.close();
    },
  };
}

/** A sink of its own behind its own way; `events` reads the same store past it. */
export async function openRealSink(
  endpoint: ClickhouseEndpoint,
  events: EventStore,
  options: { readonly queueRowsMax?: number; readonly insertTimeoutMs?: number } = {},
): Promise<SinkHarness> {
  const relay = await openRelay(Number(new URL(endpoint.url).port));
  const url = `http://127.0.0.1:${relay.port}`;
  const client = createAnalyticsClient({ ...endpoint, url });
  const sink = createDirectSink({ inserter: createEventInserter(client), ...shared, ...options });
  return {
    sink,
    events,
    setFault: (fault) => relay.setFault(fault),
    async close() {
      await sink.close();
      await client.close();
      await relay.close();
    },
  };
}
