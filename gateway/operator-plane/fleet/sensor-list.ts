// One page of sensors. Names and labels are filtered by the database, live states by the fleet picture while the rows pass by; a
// rare state costs at most a bounded number of rows a request, and the cursor goes on from where it stopped.
import { OPERATOR_SCAN_PAGES_MAX, PAGE_ITEMS_MAX } from '../../../machines/limits.ts';
import type { SensorRegistry, SensorRow } from '../../../storage/ports/fleet/sensor-registry.ts';
import type { TeamStore } from '../../../storage/ports/fleet/teams.ts';
import type { FleetView } from '../plumbing/deps.ts';
import { type SensorSummary, summaryOf } from './sensor-view.ts';

export type SensorFilter = {
  readonly node_name?: string | undefined;
  readonly trust_health?: readonly string[] | undefined;
  readonly trust_state?: readonly string[] | undefined;
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
  const isLive = filter.trust_health !== undefined || filter.trust_state !== undefined;
  const rowsAsked = isLive ? PAGE_ITEMS_MAX : limit + 1;
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

function matches(sensor: SensorSummary, filter: SensorFilter): boolean {
  const { trust_health: healths, trust_state: states } = filter;
  if (healths !== undefined && !healths.includes(sensor.trust_health ?? '')) return false;
  return states === undefined || states.includes(sensor.trust_state ?? '');
}
