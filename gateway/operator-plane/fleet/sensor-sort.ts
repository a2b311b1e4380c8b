// A page of sensors in another order than that of their names. Live states are no columns of the database, so the rows that
// match are gathered, ordered here and cut; a list too long for that has to be narrowed first. decision: D55
import { SENSORS_SCANNED_MAX } from '../../../machines/limits.ts';
import { TRUST_HEALTHS } from '../../../machines/wire/heartbeat.ts';
import type { JudgedSensor } from './sensor-view.ts';

type Key = string | number;

/** Before everything that was ever. */
const NEVER_MS = -1;

const KEYS: Readonly<Record<string, (sensor: JudgedSensor) => Key>> = {
  node_name: ({ node_name }) => node_name,
  trust_health: ({ trust_health }) => TRUST_HEALTHS.indexOf(trust_health ?? 'healthy'),
  freshness: ({ states }) => states?.freshness ?? '',
  engine: ({ states }) => states?.engine ?? '',
  os: ({ system }) => `${system.os_name} ${system.os_version}`,
  sensor_version: ({ sensor_version }) => sensor_version,
  last_heartbeat_at: ({ lastHeartbeatAtMs }) => lastHeartbeatAtMs ?? NEVER_MS,
  certificate_expires_at: ({ certificateEndsMs }) => certificateEndsMs ?? NEVER_MS,
  enrolled_at: ({ enrolledAtMs }) => enrolledAtMs,
};

/** What the list can be ordered by; with `-` before it, the other way round. */
export const SENSOR_SORTS: readonly string[] = Object.keys(KEYS).flatMap((name) => [
  name,
  `-${name}`,
]);
/** The most rows that are gathered for one order. */
export const SORTED_ROWS_MAX = SENSORS_SCANNED_MAX;

export type SortedPosition = { readonly key: Key; readonly sensorId: string };

/** What an order looks at in a sensor. */
export function sortKeyOf(sort: string, sensor: JudgedSensor): Key {
  const read = KEYS[sort.replace(/^-/, '')];
  if (read === undefined) throw new Error(`nothing is ordered by ${sort}`);
  return read(sensor);
}

/** The sensors after a position, in order; equal ones by id, so that no two pages share one. */
export function sortedAfter<Row extends { readonly sensorId: string; readonly key: Key }>(
  rows: readonly Row[],
  sort: string,
  after: SortedPosition | null,
): readonly Row[] {
  const sign = sort.startsWith('-') ? -1 : 1;
  const compare = (a: SortedPosition, b: SortedPosition): number => {
    if (a.key !== b.key) return a.key < b.key ? -sign : sign;
    return a.sensorId < b.sensorId ? -1 : a.sensorId === b.sensorId ? 0 : 1;
  };
  const left = after === null ? rows : rows.filter((row) => compare(row, after) > 0);
  return [...left].sort(compare);
}
