// One page of sensors. Names and labels are filtered by the database, live states by the live view while brief rows pass by;
// only what is on the page is read whole. A rare state costs at most a bounded number of rows a request, and the cursor goes
// on from where it stopped.
import { SENSORS_SCANNED_AT_ONCE, SENSORS_SCANNED_MAX } from '../../../machines/limits.ts';
import type { BriefSensor, SensorRegistry } from '../../../storage/ports/fleet/sensor-registry.ts';
import type { TeamStore } from '../../../storage/ports/fleet/teams.ts';
import type { FleetView } from '../plumbing/deps.ts';
import { type SortedPosition, sortedAfter, sortKeyOf } from './sensor-sort.ts';
import { type JudgedSensor, judgedOf, type SensorSummary, summaryOf } from './sensor-view.ts';

export type SensorFilter = {
  readonly node_name?: string | undefined;
  readonly trust_health?: readonly string[] | undefined;
  readonly trust_state?: readonly string[] | undefined;
  readonly freshness?: readonly string[] | undefined;
  readonly stream?: readonly string[] | undefined;
  readonly engine?: readonly string[] | undefined;
  readonly engine_kind?: readonly string[] | undefined;
  readonly flavor?: readonly string[] | undefined;
  readonly os?: string | undefined;
  readonly sensor_version?: readonly string[] | undefined;
  readonly tag?: string | undefined;
  readonly group_id?: string | undefined;
  readonly team_id?: string | undefined;
};
export type SensorPosition = { readonly nodeName: string; readonly sensorId: string };

type ListParts = {
  readonly registry: Pick<SensorRegistry, 'listBriefly' | 'sensorsOf'>;
  readonly fleet: FleetView;
  readonly teams: Pick<TeamStore, 'labelsOf'>;
  readonly filter: SensorFilter;
};

/** A page and where the next one starts; a page may be short before the end of the list. */
export async function listSensorPage(
  options: ListParts & { readonly after: SensorPosition | null; readonly limit: number },
): Promise<{ readonly items: readonly SensorSummary[]; readonly next: SensorPosition | null }> {
  const { registry, fleet, filter, limit } = options;
  // One match more than asked for proves that there is a next page.
  const rowsAsked = looksAtEach(filter) ? SENSORS_SCANNED_AT_ONCE : limit + 1;
  const found: BriefSensor[] = [];
  let position = options.after;
  for (let scanned = 0; scanned < SENSORS_SCANNED_MAX; scanned += rowsAsked) {
    const page = { limit: rowsAsked, after: position };
    const rows = await registry.listBriefly({ ...page, ...storedPart(filter) });
    for (const row of rows) {
      if (matches(judgedOf(row, fleet), filter)) {
        if (found.length === limit) {
          return { items: await summariesOf(options, found), next: position };
        }
        found.push(row);
      }
      position = positionOf(row);
    }
    if (rows.length < rowsAsked) return { items: await summariesOf(options, found), next: null };
  }
  return { items: await summariesOf(options, found), next: position };
}

/** A page in another order; null when more sensors match than can be ordered. decision: D55 */
export async function listSortedPage(
  options: ListParts & {
    readonly sort: string;
    readonly after: SortedPosition | null;
    readonly limit: number;
  },
): Promise<{
  readonly items: readonly SensorSummary[];
  readonly next: SortedPosition | null;
} | null> {
  const { sort, limit } = options;
  const found = await everyMatch(options);
  if (found === null) return null;
  const keyed = found.map((sensor) => ({
    sensorId: sensor.sensorId,
    key: sortKeyOf(sort, sensor),
  }));
  const left = sortedAfter(keyed, sort, options.after);
  const page = left.slice(0, limit);
  const last = page.at(-1);
  return {
    items: await summariesOf(options, page),
    next: left.length > limit && last !== undefined ? last : null,
  };
}

async function everyMatch({
  registry,
  fleet,
  filter,
}: ListParts): Promise<readonly JudgedSensor[] | null> {
  const found: JudgedSensor[] = [];
  let after: SensorPosition | null = null;
  for (let scanned = 0; scanned < SENSORS_SCANNED_MAX; scanned += SENSORS_SCANNED_AT_ONCE) {
    const page = { limit: SENSORS_SCANNED_AT_ONCE, after };
    const rows = await registry.listBriefly({ ...page, ...storedPart(filter) });
    for (const row of rows) {
      const sensor = judgedOf(row, fleet);
      if (matches(sensor, filter)) found.push(sensor);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < SENSORS_SCANNED_AT_ONCE) return found;
    after = positionOf(last);
  }
  return null;
}

/** What is on the page, whole and with its labels, in the order given. One that is gone meanwhile is left out. */
async function summariesOf(
  { registry, teams, fleet }: ListParts,
  page: readonly { readonly sensorId: string }[],
): Promise<readonly SensorSummary[]> {
  const ids = page.map(({ sensorId }) => sensorId);
  const [rows, labels] = await Promise.all([registry.sensorsOf(ids), teams.labelsOf(ids)]);
  const byId = new Map(rows.map((row) => [row.sensorId, row]));
  return ids.flatMap((id, at) => {
    const row = byId.get(id);
    return row === undefined ? [] : [summaryOf(row, fleet, labels[at])];
  });
}

/** The part of a filter that the database answers. */
function storedPart({ node_name, tag, group_id, team_id }: SensorFilter) {
  return {
    ...(node_name === undefined ? {} : { nodeNameContains: node_name }),
    ...(tag === undefined ? {} : { tag }),
    ...(group_id === undefined ? {} : { groupId: group_id }),
    ...(team_id === undefined ? {} : { teamId: team_id }),
  };
}

function positionOf(row: BriefSensor): SensorPosition {
  return { nodeName: row.nodeName, sensorId: row.sensorId };
}

/** Whether a filter asks for what the database does not answer. */
function looksAtEach(filter: SensorFilter): boolean {
  return LOOKED_AT.some((name) => filter[name] !== undefined);
}

const LOOKED_AT = [
  ...(['trust_health', 'trust_state', 'freshness', 'stream', 'engine', 'engine_kind'] as const),
  ...(['flavor', 'os', 'sensor_version'] as const),
];

function matches(sensor: JudgedSensor, filter: SensorFilter): boolean {
  const { states } = sensor;
  const isIn = (asked: readonly string[] | undefined, is: string | null | undefined): boolean =>
    asked === undefined || asked.includes(is ?? '');
  return (
    isIn(filter.trust_health, sensor.trust_health) &&
    isIn(filter.trust_state, sensor.trust_state) &&
    isIn(filter.freshness, states?.freshness) &&
    isIn(filter.stream, states?.stream) &&
    isIn(filter.engine, states?.engine) &&
    isIn(filter.engine_kind, sensor.engine_kind) &&
    isIn(filter.flavor, sensor.flavor) &&
    isIn(filter.sensor_version, sensor.sensor_version) &&
    matchesSystem(sensor, filter.os)
  );
}

function matchesSystem({ system }: JudgedSensor, part: string | undefined): boolean {
  return (
    part === undefined ||
    `${system.os_name} ${system.os_version}`.toLowerCase().includes(part.toLowerCase())
  );
}
