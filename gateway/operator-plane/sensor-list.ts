// One page of sensors. Names are filtered by the database, live states by the fleet picture while the rows pass by; a
// rare state costs at most a bounded number of rows a request, and the cursor goes on from where it stopped.
import { OPERATOR_SCAN_PAGES_MAX, PAGE_ITEMS_MAX } from '../../machines/limits.ts';
import type { SensorRegistry, SensorRow } from '../../storage/ports/sensor-registry.ts';
import type { FleetView } from './deps.ts';
import { type SensorSummary, summaryOf } from './sensor-view.ts';

export type SensorFilter = {
  readonly node_name?: string | undefined;
  readonly trust_health?: readonly string[] | undefined;
  readonly trust_state?: readonly string[] | undefined;
};
export type SensorPosition = { readonly nodeName: string; readonly sensorId: string };

/** A page and where the next one starts; a page may be short before the end of the list. */
export async function listSensorPage(options: {
  readonly registry: Pick<SensorRegistry, 'listSensors'>;
  readonly fleet: FleetView;
  readonly filter: SensorFilter;
  readonly after: SensorPosition | null;
  readonly limit: number;
}): Promise<{ readonly items: readonly SensorSummary[]; readonly next: SensorPosition | null }> {
  const { registry, fleet, filter, limit } = options;
  const isLive = filter.trust_health !== undefined || filter.trust_state !== undefined;
  const rowsAsked = isLive ? PAGE_ITEMS_MAX : limit + 1;
  const items: SensorSummary[] = [];
  let position = options.after;
  for (let page = 0; page < OPERATOR_SCAN_PAGES_MAX; page += 1) {
    const rows = await registry.listSensors({
      limit: rowsAsked,
      after: position,
      ...(filter.node_name === undefined ? {} : { nodeNameContains: filter.node_name }),
    });
    for (const row of rows) {
      // One match more than asked for proves that there is a next page.
      const summary = summaryOf(row, fleet);
      if (!matches(summary, filter)) {
        position = positionOf(row);
        continue;
      }
      if (items.length === limit) return { items, next: position };
      items.push(summary);
      position = positionOf(row);
    }
    if (rows.length < rowsAsked) return { items, next: null };
  }
  return { items, next: position };
}

function positionOf(row: SensorRow): SensorPosition {
  return { nodeName: row.nodeName, sensorId: row.sensorId };
}

function matches(sensor: SensorSummary, filter: SensorFilter): boolean {
  const { trust_health: healths, trust_state: states } = filter;
  if (healths !== undefined && !healths.includes(sensor.trust_health ?? '')) return false;
  return states === undefined || states.includes(sensor.trust_state ?? '');
}
