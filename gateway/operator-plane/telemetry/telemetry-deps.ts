// What the resources of telemetry are given.
import type { SensorRegistry } from '../../../storage/ports/fleet/sensor-registry.ts';
import type { BaselineStore } from '../../../storage/ports/telemetry/baseline-store.ts';
import type { EventStore } from '../../../storage/ports/telemetry/event-store.ts';
import type { InventoryStore } from '../../../storage/ports/telemetry/inventory-store.ts';
import type { TelemetryStore } from '../../../storage/ports/telemetry/telemetry-store.ts';
import type { CursorSigner } from '../plumbing/cursor.ts';
import type { SearchTurns } from './search-turns.ts';

/** What sensors told beside events, as it is stored. */
export type TelemetryReads = Omit<TelemetryStore, 'insert'> &
  Omit<BaselineStore, 'put'> & { readonly inventory: Pick<InventoryStore, 'get'> };

export type TelemetryRouteDeps = {
  readonly now: () => number;
  readonly cursors: CursorSigner;
  readonly registry: Pick<SensorRegistry, 'getSensor'>;
  readonly events: Pick<EventStore, 'search' | 'histogram' | 'topValues' | 'statementOf'>;
  readonly searches: SearchTurns;
  readonly telemetry: TelemetryReads;
};
