// The reference stores of this capability, as calls.
import type { AnalyticsHealth } from '../../ports/telemetry/analytics-health.ts';
import type { InventoryStores, TelemetryStores } from '../../ports/telemetry/stores.ts';
import type { Calls, StoreCalls } from '../plumbing/unsafe-port-of.ts';
import { baselineCalls } from './baseline-rows.ts';
import type { EventRows } from './event-rows.ts';
import { inventoryCalls } from './inventory-store.ts';
import type { TelemetryRowsInMemory } from './telemetry-rows.ts';

/** What sensors told, as it lies in ClickHouse. */
export type SeenRows = { readonly events: EventRows; readonly telemetry: TelemetryRowsInMemory };

/** The calls on empty stores. */
export function inventoryStores(): StoreCalls<InventoryStores> {
  return { inventory: inventoryCalls() };
}

/** Everything is as it should be. */
const HEALTHY: Calls<AnalyticsHealth> = {
  ping: () => undefined,
  insert: () => undefined,
  query: () => undefined,
  facts: () => ({
    ...{ parts: 10, partsMost: 5, merges: 0, longestMergeMs: 0 },
    ...{ diskFreeBytes: 90_000_000_000, diskTotalBytes: 100_000_000_000 },
  }),
};

/** The calls on these rows. */
export function telemetryStores({
  events,
  telemetry,
}: SeenRows): StoreCalls<Omit<TelemetryStores, 'events' | 'sink'>> {
  return { telemetry: telemetry.calls, baselines: baselineCalls(events), health: HEALTHY };
}
