// One page of sensors. Names and labels are filtered by the database, live states by the live view while the rows pass by; a
// rare state costs at most a bounded number of rows a request, and the cursor goes on from where it stopped.
import { OPERATOR_SCAN_PAGES_MAX, PAGE_ITEMS_MAX } from '../../../machines/limits.ts';
import type { SensorRegistry, SensorRow } from '../../../storage/ports/fleet/sensor-registry.ts';
import type { TeamStore } from '../../../storage/ports/fleet/teams.ts';
import type { FleetView } from '../plumbing/deps.ts';
import { type SortedPosition, sortedAfter, sortKeyOf } from './sensor-sort.ts';
import { type SensorSummary, summaryOf } from './sensor-view.ts';

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

/** A page and where the next one starts; a page may be short before the end of the list. */
export async function listSensorPage(options: {
  readonly registry: Pick<SensorRegistry, 'listSensors'>;
  readonly fleet: FleetView;
  readonly teams: Pick<TeamStore, 'labelsOf'>;
  readonly filter: SensorFilter;
  readonly after: SensorPosition | null;
  readonly limit: number;
}): Promise<{ readonly items: readonly SensorSummary[]; readonly next: SensorPosition | null }> {
  const { registry, fleet, filter, limit } = options;
  const rowsAsked = looksAtEach(filter) ? PAGE_ITEMS_MAX : limit + 1;
  const found: SensorRow[] = [];
  let position = options.after;
  for (let page = 0; page < OPERATOR_SCAN_PAGES_MAX; page += 1) {
    const rows = await registry.listSensors({
      limit: rowsAsked,
      after: position,
      ...storedPart(filter),
    });
    for (const row of rows) {
      // One match more than asked for proves that there is a next page.
      if (!matches(summaryOf(row, fleet, undefined), filter)) {
        position = positionOf(row);
        continue;
      }
      if (found.length === limit) return pageOf(options, found, position);
      found.push(row);
      position = positionOf(row);
    }
    if (rows.length < rowsAsked) return pageOf(options, found, null);
  }
  return pageOf(options, found, position);
}

/** A page in another order; null when more sensors match than can be ordered. decision: D55 */
export async function listSortedPage(
  options: Pick<Parameters<typeof listSensorPage>[0], 'registry' | 'fleet' | 'teams' | 'filter'> & {
    readonly sort: string;
    readonly after: SortedPosition | null;
    readonly limit: number;
  },
): Promise<{
  readonly items: readonly SensorSummary[];
  readonly next: SortedPosition | null;
} | null> {
  const { fleet, sort, limit } = options;
  const rows = await everyMatch(options);
  if (rows === null) return null;
  const keyed = rows.map((row) => ({
    ...{ row, sensorId: row.sensorId },
    key: sortKeyOf(sort, summaryOf(row, fleet, undefined)),
  }));
  const left = sortedAfter(keyed, sort, options.after);
  const page = left.slice(0, limit);
  const last = page.at(-1);
  const labelled = await pageOf(
    options,
    page.map(({ row }) => row),
    null,
  );
  const next = left.length > limit && last !== undefined ? last : null;
  return {
    items: labelled.items,
    next: next === null ? null : { key: next.key, sensorId: next.sensorId },
  };
}

async function everyMatch({
  registry,
  fleet,
  filter,
}: Pick<Parameters<typeof listSensorPage>[0], 'registry' | 'fleet' | 'filter'>): Promise<
  readonly SensorRow[] | null
> {
  const found: SensorRow[] = [];
  let after: SensorPosition | null = null;
  for (let page = 0; page < OPERATOR_SCAN_PAGES_MAX; page += 1) {
    const rows = await registry.listSensors({
      ...{ limit: PAGE_ITEMS_MAX, after },
      ...storedPart(filter),
    });
    found.push(...rows.filter((row) => matches(summaryOf(row, fleet, undefined), filter)));
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ITEMS_MAX) return found;
    after = positionOf(last);
  }
  return null;
}

/** The page with the labels of what is on it, which are asked for once. */
async function pageOf(
  { teams, fleet }: Pick<Parameters<typeof listSensorPage>[0], 'teams' | 'fleet'>,
  rows: readonly SensorRow[],
  next: SensorPosition | null,
) {
  const labels = await teams.labelsOf(rows.map((row) => row.sensorId));
  return { items: rows.map((row, index) => summaryOf(row, fleet, labels[index])), next };
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

function positionOf(row: SensorRow): SensorPosition {
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

function matches(sensor: SensorSummary, filter: SensorFilter): boolean {
  const { states } = sensor;
  const lists: readonly (readonly [readonly string[] | undefined, string | null | undefined])[] = [
    [filter.trust_health, sensor.trust_health],
    [filter.trust_state, sensor.trust_state],
    [filter.freshness, states?.freshness],
    [filter.stream, states?.stream],
    [filter.engine, states?.engine],
    [filter.engine_kind, sensor.engine_kind],
    [filter.flavor, sensor.flavor],
    [filter.sensor_version, sensor.sensor_version],
  ];
  const isListed = lists.every(([asked, is]) => asked === undefined || asked.includes(is ?? ''));
  return isListed && matchesSystem(sensor, filter.os);
}

function matchesSystem({ system }: SensorSummary, part: string | undefined): boolean {
  return (
    part === undefined ||
    `${system.os_name} ${system.os_version}`.toLowerCase().includes(part.toLowerCase())
  );
}
