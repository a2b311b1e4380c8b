// The reference stores of this capability, as calls.
import type { InventoryStores, TelemetryStores } from '../../ports/telemetry/stores.ts';
import type { StoreCalls } from '../plumbing/unsafe-port-of.ts';
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

/** The calls on these rows. */
export function telemetryStores({
  events,
  telemetry,
}: SeenRows): StoreCalls<Omit<TelemetryStores, 'events' | 'sink'>> {
  return { telemetry: telemetry.calls, baselines: baselineCalls(events) };
}
