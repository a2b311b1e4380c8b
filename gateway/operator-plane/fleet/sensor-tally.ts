// How many sensors there are in each state and of each version. It is counted from the very rows of the list, so a number
// and the filtered list behind it agree. decision: D96
import Type from 'typebox';
import { SENSORS_SCANNED_AT_ONCE } from '../../../machines/limits.ts';
import type { SensorRegistry } from '../../../storage/ports/fleet/sensor-registry.ts';
import type { FleetView } from '../plumbing/deps.ts';
import type { SensorPosition } from './sensor-list.ts';
import { type JudgedSensor, judgedOf } from './sensor-view.ts';

/** Versions come from nodes; beyond this many the rarest are counted together. */
const VERSIONS_MAX = 32;

const Counts = Type.Record(Type.String(), Type.Integer());
export const SensorTally = Type.Object({
  total: Type.Integer(),
  trust_health: Counts,
  trust_state: Counts,
  freshness: Counts,
  stream: Counts,
  engine: Counts,
  engine_kind: Counts,
  flavor: Counts,
  sensor_versions: Type.Array(Type.Object({ version: Type.String(), sensors: Type.Integer() }), {
    description: 'of sensors that are not revoked, the most frequent first',
  }),
  other_versions: Type.Integer({ description: 'sensors of versions that are not listed' }),
});
type SensorTally = Type.Static<typeof SensorTally>;

const FIELDS = [
  ...(['trust_health', 'trust_state', 'freshness', 'stream', 'engine', 'engine_kind'] as const),
  'flavor',
] as const;

type From = { readonly registry: Pick<SensorRegistry, 'listBriefly'>; readonly fleet: FleetView };

/** Counts every sensor, page by page; who asks while it is counted gets the same answer. Rejects with StoreUnavailable. */
export function createSensorTally(from: From): () => Promise<SensorTally> {
  let running: Promise<SensorTally> | null = null;
  return () => {
    running ??= tally(from).finally(() => {
      running = null;
    });
    return running;
  };
}

async function tally({ registry, fleet }: From): Promise<SensorTally> {
  const counts = new Map(FIELDS.map((field) => [field, new Map<string, number>()]));
  const versions = new Map<string, number>();
  const add = (to: Map<string, number> | undefined, value: string | null | undefined) => {
    if (value !== null && value !== undefined) to?.set(value, (to.get(value) ?? 0) + 1);
  };
  let total = 0;
  let after: SensorPosition | null = null;
  for (;;) {
    const rows = await registry.listBriefly({ limit: SENSORS_SCANNED_AT_ONCE, after });
    for (const row of rows) {
      const sensor = judgedOf(row, fleet);
      total += 1;
      for (const field of FIELDS) add(counts.get(field), stateIn(sensor, field));
      if (sensor.trust_health !== 'revoked') add(versions, sensor.sensor_version);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < SENSORS_SCANNED_AT_ONCE) break;
    after = { nodeName: last.nodeName, sensorId: last.sensorId };
  }
  const ordered = [...versions].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const listed = ordered.slice(0, VERSIONS_MAX);
  const countsOf = (field: (typeof FIELDS)[number]) => Object.fromEntries(counts.get(field) ?? []);
  return {
    total,
    ...{ trust_health: countsOf('trust_health'), trust_state: countsOf('trust_state') },
    ...{ freshness: countsOf('freshness'), stream: countsOf('stream') },
    ...{ engine: countsOf('engine'), engine_kind: countsOf('engine_kind') },
    flavor: countsOf('flavor'),
    sensor_versions: listed.map(([version, sensors]) => ({ version, sensors })),
    other_versions: ordered.slice(VERSIONS_MAX).reduce((sum, [, sensors]) => sum + sensors, 0),
  };
}

function stateIn(sensor: JudgedSensor, field: (typeof FIELDS)[number]) {
  if (field === 'freshness' || field === 'stream' || field === 'engine')
    return sensor.states?.[field];
  return sensor[field];
}
