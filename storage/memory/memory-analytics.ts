// The reference stores of ClickHouse that are plain calls: one line for each capability that owns some. Events and their
// sink stand apart, since a sink holds what it took.
import type { AnalyticsStores } from '../ports/stores.ts';
import type { StoreCalls } from './plumbing/unsafe-port-of.ts';
import { type SeenRows, telemetryStores } from './telemetry/stores.ts';

export type PlainAnalytics = Omit<AnalyticsStores, 'events' | 'sink'>;

/** The calls of every store, over what was seen. */
export function memoryAnalytics(seen: SeenRows): StoreCalls<PlainAnalytics> {
  return {
    ...telemetryStores(seen),
  };
}
