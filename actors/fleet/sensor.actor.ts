// The fleet's directory of sensor actors and what is read from them: health, wire states, the live view.
// decision: D4, D14
import {
  type SensorEvent,
  type SensorSnapshot,
  sensorMachine,
} from '../../machines/console/fleet/sensor.machine.ts';
import {
  engineSeen,
  hasNewFacts,
  healthFactsOf,
  type SensorInput,
} from '../../machines/console/fleet/sensor.rules.ts';
import type {
  ContainmentFacts,
  OrderFacts,
} from '../../machines/console/fleet/sensor-containment.rules.ts';
import type { Intervals } from '../../machines/limits.ts';
import {
  type Health,
  type TrustRegionState,
  trustHealth,
  WIRE_TRUST_STATE,
} from '../../machines/trust/health.rules.ts';
import type { EngineReport, TrustReport, WireTrustState } from '../../machines/wire/heartbeat.ts';
import type { ContainmentReport } from '../../machines/wire/policy.ts';
import type { ContainmentOrderRow } from '../../storage/ports/containment/containment-orders.ts';
import type { SensorRow } from '../../storage/ports/fleet/sensor-registry.ts';
import { createDirectory, type Directory, type DirectoryOptions } from '../runtime/directory.ts';

export type SensorDirectory = Directory<typeof sensorMachine>;

/** Makes the directory; the shell gives clock, feed, supervision and the way back from facts. */
export function createSensorDirectory(
  options: Omit<DirectoryOptions<typeof sensorMachine>, 'kind' | 'machine' | 'factsOf'>,
): SensorDirectory {
  return createDirectory({
    ...options,
    ...{ kind: 'sensor', machine: sensorMachine, factsOf, hasNewFacts },
  });
}

/** What an actor is rebuilt from: the sensor's row, as the database knows it. */
export function sensorInputOf(row: SensorRow, nowMs: number, intervals: Intervals): SensorInput {
  const trust = row.facts?.trust as Partial<TrustReport> | undefined;
  const engine = row.facts?.engine as Partial<EngineReport> | undefined;
  return {
    containment: containmentFactsOf(row),
    sensorId: row.sensorId,
    nowMs,
    knownSinceMs: row.enrolledAtMs,
    notAfterMs: row.currentNotAfterMs,
    revokedAtMs: row.revokedAtMs,
    lastHeartbeatAtMs: row.lastHeartbeatAtMs,
    reportedTrustState: trust?.state ?? null,
    lastTrustErrorAtMs: timeOf(trust?.last_trust_error_at),
    lastConnectionErrorAtMs: timeOf(trust?.last_connection_error_at),
    engineState:
      engine?.state === undefined ? null : engineSeen(engine.state, engine.disabled_hooks),
    windows: {
      recommendedMs: intervals.RENEWAL_RECOMMENDED_MS,
      dueMs: intervals.RENEWAL_DUE_MS,
      trustErrorMs: intervals.TRUST_ERROR_WINDOW_MS,
      stalenessMs: intervals.STALENESS_WINDOW_MS,
    },
  };
}

/** What was ordered and what the node said last, as both are stored. */
export function containmentFactsOf(
  row: Pick<SensorRow, 'containmentOrder' | 'facts'>,
): ContainmentFacts {
  const order = row.containmentOrder === undefined ? null : orderFactsOf(row.containmentOrder);
  const said = row.facts?.containment as StoredContainment | undefined;
  const report =
    said?.state === undefined
      ? null
      : { orderId: said.order_id ?? null, state: said.state, failure: said.failure ?? null };
  return { order, report, isContained: said?.is_contained === true };
}

/** An order as the actor keeps it. */
export function orderFactsOf(order: ContainmentOrderRow): OrderFacts {
  const { orderId, wanted, reason, untilMs } = order;
  return { orderId, wanted, reason, untilMs };
}

/** As the heartbeat route stores it. */
type StoredContainment = Partial<ContainmentReport> & { readonly is_contained?: boolean };

/** The region states of a snapshot by name. */
export function regionsOfSensor(snapshot: SensorSnapshot) {
  const { trust, ...others } = snapshot.value;
  // `assessing` and `deciding` are left before a snapshot can be read.
  return { trust: trust as TrustRegionState, ...others };
}

export function wireTrustStateOf(snapshot: SensorSnapshot): WireTrustState {
  return WIRE_TRUST_STATE[regionsOfSensor(snapshot).trust];
}

/** Trust health at an instant, with its reasons. */
export function healthOf(snapshot: SensorSnapshot, nowMs: number): Health {
  const { context } = snapshot;
  return trustHealth(healthFactsOf(context), context.windows, nowMs);
}

function factsOf(event: SensorEvent): Readonly<Record<string, unknown>> {
  const { type: _type, ...facts } = event;
  return facts;
}

function timeOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}
