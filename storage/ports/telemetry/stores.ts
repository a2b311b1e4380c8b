// What is kept of what sensors see: the inventories in PostgreSQL, the rest in ClickHouse.
import type { BaselineStore } from './baseline-store.ts';
import type { EventSink, EventStore } from './event-store.ts';
import type { InventoryStore } from './inventory-store.ts';
import type { TelemetryStore } from './telemetry-store.ts';

export type InventoryStores = {
  readonly inventory: InventoryStore;
};

export type TelemetryStores = {
  readonly events: EventStore;
  readonly sink: EventSink;
  readonly telemetry: TelemetryStore;
  readonly baselines: BaselineStore;
};
