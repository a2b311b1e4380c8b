// Labels of sensors in memory, where events arrive: tags, groups and role, read again every half minute. decision: D131
import type { SensorLabels } from '../../machines/detection/rule-compile.ts';
import { SENSOR_LABELS_MS } from '../../machines/limits.ts';
import type { SensorQuery, SensorRegistry } from '../../storage/ports/fleet/sensor-registry.ts';
import type { OwnershipStore } from '../../storage/ports/fleet/teams.ts';
import { processLoop, type UpkeepLoop } from '../loops/loop.ts';

export type LabelCache = {
  /** Of a sensor that is not known yet: none. */
  of(sensorId: string): SensorLabels;
  readonly loop: UpkeepLoop;
};
const NONE: SensorLabels = { tags: [], groupIds: [], role: null };
const PAGE = 1_000;

/** Makes the cache, empty; its loop fills it. */
export function createLabelCache(deps: {
  readonly registry: Pick<SensorRegistry, 'listSensors'>;
  readonly teams: Pick<OwnershipStore, 'labelsOf'>;
}): LabelCache {
  let known: ReadonlyMap<string, SensorLabels> = new Map();
  async function refresh(): Promise<void> {
    const next = new Map<string, SensorLabels>();
    let after: SensorQuery['after'] = null;
    for (;;) {
      const rows = await deps.registry.listSensors({ limit: PAGE, after });
      const roles = new Map(rows.map((row) => [row.sensorId, row.declaredRole]));
      for (const one of await deps.teams.labelsOf([...roles.keys()])) {
        const { sensorId, tags, groupIds } = one;
        next.set(sensorId, { tags, groupIds, role: roles.get(sensorId) ?? null });
      }
      const last = rows.at(-1);
      if (rows.length < PAGE || last === undefined) break;
      after = { nodeName: last.nodeName, sensorId: last.sensorId };
    }
    known = next;
  }
  return {
    of: (sensorId) => known.get(sensorId) ?? NONE,
    loop: processLoop('sensor-labels', SENSOR_LABELS_MS, refresh),
  };
}
