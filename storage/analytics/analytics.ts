// Everything that lives in ClickHouse, on one client. Built by the composition root; nothing connects before first use.

import type { Intervals } from '../../machines/limits.ts';
import type { Timers } from '../ports/plumbing/clock.ts';
import type { Logger } from '../ports/plumbing/logger.ts';
import type { AnalyticsStores } from '../ports/stores.ts';
import { createAnalyticsHealth } from './analytics-health.ts';
import { createBaselineStore } from './baseline-store.ts';
import { type AnalyticsAccess, createAnalyticsClient } from './client.ts';
import { createDirectSink } from './direct-sink.ts';
import { createEventInserter } from './event-inserter.ts';
import { createEventStore } from './event-store.ts';
import { createExportSource } from './export-source.ts';
import { createTelemetryStore } from './telemetry-store.ts';

export type AnalyticsOptions = AnalyticsAccess & {
  readonly logger: Logger;
  readonly timers: Timers;
  readonly intervals: Pick<
    Intervals,
    'SINK_COMMIT_INTERVAL_MS' | 'RETRY_AFTER_STORE_MS' | 'STORE_PROBE_INTERVAL_MS'
  >;
};

export type Analytics = AnalyticsStores & {
  /** Runs one statement without an answer; for migrations. */
  command(statement: string): Promise<void>;
  /** Commits what the sink holds, then closes every connection. */
  close(): Promise<void>;
};

/** Makes the event store and the direct sink on one client. */
export function createAnalytics(options: AnalyticsOptions): Analytics {
  const client = createAnalyticsClient(options);
  const { logger, timers, intervals } = options;
  const sink = createDirectSink({
    inserter: createEventInserter(client),
    logger,
    timers,
    intervals,
  });
  return {
    events: createEventStore(client),
    sink,
    telemetry: createTelemetryStore(client),
    baselines: createBaselineStore(client),
    exportSource: createExportSource(client),
    health: createAnalyticsHealth(client),
    async command(statement) {
      await client.command({ query: statement });
    },
    async close() {
      await sink.close();
      await client.close();
    },
  };
}
