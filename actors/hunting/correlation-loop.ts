// Looks for the same indicator on several sensors within a window and raises one alert for each, whose matches are the
// sensors: a sensor more counts there, and told again it counts once. What is declared to be usual is left out.
// decision: D60, D145
import { type Alert, OF_FLEET } from '../../machines/console/delivery/alert.ts';
import { type Finding, findingOf } from '../../machines/console/detection/finding.ts';
import {
  correlationKeyOf,
  correlationTextOf,
  INDICATORS,
  REMARKABLE,
  type SharedIndicator,
} from '../../machines/console/hunting/correlation.rules.ts';
import { parseCondition } from '../../machines/detection/condition-parser.ts';
import {
  CORRELATION_LOOK_MS,
  CORRELATION_SENSORS_MIN,
  CORRELATION_SENSORS_NAMED_MAX,
  CORRELATION_VALUES_MAX,
  CORRELATION_WINDOW_MS,
  PAGE_ITEMS_MAX,
} from '../../machines/limits.ts';
import type { AlertRow, AlertStore } from '../../storage/ports/detection/alert-store.ts';
import type { EventStore } from '../../storage/ports/telemetry/event-store.ts';
import type { DesignatedLoop } from '../loops/loop.ts';
import type { Chance } from '../trust/chance.ts';
import type { UsualMarks } from './usual-marks.ts';

export type CorrelationDeps = {
  readonly events: Pick<EventStore, 'shared'>;
  readonly alerts: Pick<AlertStore, 'list'>;
  readonly usual: Pick<UsualMarks, 'judge'>;
  readonly raise: (findings: readonly Finding[], epoch: number) => Promise<unknown>;
  readonly chance: Pick<Chance, 'newId'>;
  readonly now: () => number;
};

/** Makes the loop. */
export function createCorrelationLoop(deps: CorrelationDeps): DesignatedLoop {
  return {
    name: 'fleet-correlation',
    runsOn: 'designated',
    everyMs: CORRELATION_LOOK_MS,
    async run({ epoch, signal }) {
      const nowMs = deps.now();
      const found = [...(await inEvents(deps, nowMs, signal)), ...(await inAlerts(deps, nowMs))];
      await deps.raise(
        found.map((one) => findingFor(one, deps.chance.newId())),
        epoch,
      );
      return undefined;
    },
  };
}

async function inEvents(
  deps: CorrelationDeps,
  nowMs: number,
  signal: AbortSignal,
): Promise<readonly SharedIndicator[]> {
  const read = parseCondition(REMARKABLE);
  if (!read.ok) throw new Error('the condition of what is remarkable cannot be read');
  const isUsual = await deps.usual.judge();
  const found: SharedIndicator[] = [];
  for (const { field, name } of INDICATORS) {
    const shared = await deps.events.shared({
      ...{ field, signal, condition: read.condition, limit: CORRELATION_VALUES_MAX },
      ...{ receivedFromMs: nowMs - CORRELATION_WINDOW_MS, receivedToMs: nowMs },
      ...{ sensorsMin: CORRELATION_SENSORS_MIN, sensorsNamedMax: CORRELATION_SENSORS_NAMED_MAX },
    });
    for (const one of shared) {
      const unusualOn = one.sensorIds.filter(
        (sensorId) => !isUsual({ binary: name === 'program' ? one.value : '', sensorId }, nowMs),
      );
      if (unusualOn.length < CORRELATION_SENSORS_MIN) continue;
      found.push({ ...one, name, sensorIds: unusualOn });
    }
  }
  return found;
}

/** The same rule on several sensors. */
async function inAlerts(deps: CorrelationDeps, nowMs: number): Promise<readonly SharedIndicator[]> {
  const rows = await deps.alerts.list({
    ...{ kinds: ['security_event'], fromMs: nowMs - CORRELATION_WINDOW_MS },
    ...{ limit: PAGE_ITEMS_MAX, before: null },
  });
  const rules = new Map<string, AlertRow[]>();
  for (const row of rows) {
    const { ruleId, sensorId } = row.alert;
    if (sensorId === 'fleet') continue;
    rules.set(ruleId, [...(rules.get(ruleId) ?? []), row]);
  }
  return [...rules].flatMap(([ruleId, all]) => {
    const sensorIds = [...new Set(all.map(({ alert }) => alert.sensorId))].sort();
    const [first] = all;
    if (sensorIds.length < CORRELATION_SENSORS_MIN || first === undefined) return [];
    return [
      {
        ...({ name: 'rule', value: first.alert.texts.rule_name ?? ruleId } as const),
        ...{ sensors: sensorIds.length, severity: first.alert.severity },
        sensorIds: sensorIds.slice(0, CORRELATION_SENSORS_NAMED_MAX),
        events: all.reduce((sum, { count }) => sum + count, 0),
        firstAtMs: Math.min(...all.map((row) => row.firstMatchedAtMs)),
        lastAtMs: Math.max(...all.map((row) => row.lastMatchedAtMs)),
      },
    ];
  });
}

function findingFor(shared: SharedIndicator, alertId: string): Finding {
  const key = correlationKeyOf(shared);
  const alert: Alert = {
    ...OF_FLEET,
    ...{ alertId, kind: 'fleet_correlation', source: 'fleet_correlation', ruleId: key },
    severity: shared.severity,
    ...correlationTextOf(shared, CORRELATION_WINDOW_MS),
    ...{ occurredAtMs: shared.lastAtMs, observedAtMs: shared.firstAtMs, dedupKey: key },
    relatedEventCount: shared.events,
  };
  return {
    ...findingOf(alert, key),
    quietMs: CORRELATION_WINDOW_MS,
    group: { [shared.name]: shared.value, sensors: shared.sensorIds.join(', ') },
    matches: shared.sensorIds.map((sensorId) => ({
      ...{ matchId: `${key} ${sensorId}`, isEvent: false, atMs: shared.lastAtMs },
    })),
  };
}
