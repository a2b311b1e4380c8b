// A sensor as the operator API shows it: the stored row joined with the live facts of the live view.
import Type from 'typebox';
import type { FleetEntry } from '../../../actors/fleet/fleet-live-view.ts';
import { SystemFacts } from '../../../machines/wire/enrollment.ts';
import { TRUST_HEALTHS, TRUST_STATES } from '../../../machines/wire/heartbeat.ts';
import { Flavor, Uuid } from '../../../machines/wire/scalars.ts';
import type { BriefSensor, SensorRow } from '../../../storage/ports/fleet/sensor-registry.ts';
import type { SensorLabels } from '../../../storage/ports/fleet/teams.ts';
import type { FleetView } from '../plumbing/deps.ts';
import { Nullable, Time } from '../plumbing/shapes.ts';
import { timeText, timeTextOrNull } from '../plumbing/time-range.ts';
import { Because, reasonsOf, revokedBecause } from './health-reasons.ts';

const Regions = Type.Object({
  freshness: Type.String(),
  stream: Type.String(),
  engine: Type.String(),
  policy: Type.String(),
  containment: Type.String(),
});

export const SensorSummary = Type.Object({
  sensor_id: Uuid,
  node_name: Type.String(),
  flavor: Flavor,
  flavor_mismatch: Type.Boolean(),
  declared_role: Nullable(Type.String()),
  labels: Type.Record(Type.String(), Type.String()),
  tags: Type.Array(Type.String()),
  group_ids: Type.Array(Uuid),
  team_ids: Type.Array(Uuid),
  system: SystemFacts,
  sensor_version: Type.String(),
  boot_id: Type.String(),
  enrolled_at: Time,
  revoked_at: Nullable(Time),
  revoked_reason: Nullable(Type.String()),
  last_heartbeat_at: Nullable(Time),
  certificate_expires_at: Nullable(Time),
  trust_state: Nullable(Type.Enum([...TRUST_STATES])),
  trust_health: Nullable(Type.Enum([...TRUST_HEALTHS])),
  because: Type.Array(Because),
  states: Nullable(Regions),
  is_contained: Type.Boolean(),
  engine_kind: Nullable(Type.String()),
});
export const SensorDetail = Type.Intersect([
  SensorSummary,
  Type.Object({ facts: Nullable(Type.Record(Type.String(), Type.Unknown())) }),
]);
export type SensorDetail = Type.Static<typeof SensorDetail>;
export type SensorSummary = Type.Static<typeof SensorSummary>;

type Labels = Omit<SensorLabels, 'sensorId'>;

/** One row of the list. */
export function summaryOf(
  row: SensorRow,
  fleet: FleetView,
  labels: Labels | undefined,
): SensorSummary {
  const live = fleet.get(row.sensorId);
  return {
    sensor_id: row.sensorId,
    node_name: row.nodeName,
    flavor: row.flavor,
    flavor_mismatch: row.flavorMismatch,
    declared_role: row.declaredRole,
    labels: row.labels,
    tags: [...(labels?.tags ?? [])],
    group_ids: [...(labels?.groupIds ?? [])],
    team_ids: [...(labels?.teamIds ?? [])],
    system: row.system,
    sensor_version: row.sensorVersion,
    boot_id: row.bootId,
    enrolled_at: timeText(row.enrolledAtMs),
    revoked_at: timeTextOrNull(row.revokedAtMs),
    revoked_reason: row.revokedReason,
    last_heartbeat_at: timeTextOrNull(live?.last_heartbeat_at_ms ?? row.lastHeartbeatAtMs),
    certificate_expires_at: timeTextOrNull(row.currentNotAfterMs),
    ...trustOf(row, live),
    states: live === undefined ? null : statesOf(live),
    is_contained: live?.is_contained === true,
    engine_kind: engineKindOf(row),
  };
}

/** What a list looks at in a sensor to filter and order it; instants in milliseconds. */
export type JudgedSensor = Pick<BriefSensor, 'sensorId' | 'system' | 'flavor' | 'enrolledAtMs'> & {
  readonly node_name: string;
  readonly sensor_version: string;
  readonly engine_kind: string | null;
  readonly trust_state: SensorSummary['trust_state'];
  readonly trust_health: SensorSummary['trust_health'];
  readonly states: Pick<FleetEntry, 'freshness' | 'stream' | 'engine'> | undefined;
  readonly lastHeartbeatAtMs: number | null;
  readonly certificateEndsMs: number | null;
};

/** A brief row joined with its live states. */
export function judgedOf(row: BriefSensor, fleet: FleetView): JudgedSensor {
  const live = fleet.get(row.sensorId);
  const isRevoked = row.revokedAtMs !== null;
  return {
    ...{ sensorId: row.sensorId, system: row.system, flavor: row.flavor },
    ...{ node_name: row.nodeName, sensor_version: row.sensorVersion, engine_kind: row.engineKind },
    trust_state: isRevoked ? 'trust_revoked' : (live?.trust_state ?? null),
    trust_health: isRevoked ? 'revoked' : (live?.trust_health ?? null),
    ...{ states: live, enrolledAtMs: row.enrolledAtMs },
    lastHeartbeatAtMs: live?.last_heartbeat_at_ms ?? row.lastHeartbeatAtMs,
    certificateEndsMs: row.currentNotAfterMs,
  };
}

/** The whole record. */
export function detailOf(row: SensorRow, fleet: FleetView, labels: Labels | undefined) {
  return { ...summaryOf(row, fleet, labels), facts: row.facts };
}

/** The live states of one entry, as lists and the live channel show them. */
export function statesOf(live: FleetEntry) {
  const { freshness, stream, engine, policy, containment } = live;
  return { freshness, stream, engine, policy, containment };
}

// The row's revocation is the authority: a replica whose actor lags must not show a revoked sensor as good.
function trustOf(
  row: SensorRow,
  live: FleetEntry | undefined,
): Pick<SensorSummary, 'trust_state' | 'trust_health' | 'because'> {
  if (row.revokedAtMs !== null) {
    const because = [revokedBecause(row.revokedAtMs, row.revokedReason)];
    return { trust_state: 'trust_revoked', trust_health: 'revoked', because };
  }
  return {
    trust_state: live?.trust_state ?? null,
    trust_health: live?.trust_health ?? null,
    because: live === undefined ? [] : reasonsOf(live, row.facts?.engine),
  };
}

function engineKindOf(row: SensorRow): string | null {
  const engine = row.facts?.engine;
  if (typeof engine !== 'object' || engine === null || !('kind' in engine)) return null;
  return typeof engine.kind === 'string' ? engine.kind : null;
}
