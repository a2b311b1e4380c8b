// Watches the fleet for what people want to be told of: every sensor whose picture moved is held against its mark, and the
// difference goes into the inbox under a name of its own; then the mark moves. A crash between the two finds the same
// difference again, and the inbox knows its name. One Console does it for all. What moved while nobody watched is found by a look at the whole
// fleet, at the begin of a tenure and every few minutes. decision: D60, D103
import type { Alert, AlertKind } from '../../machines/console/delivery/alert.ts';
import {
  isSameMark,
  newsOf,
  passedOf,
  type SensorMark,
  type SensorNews,
  UNMARKED,
} from '../../machines/console/delivery/sensor-alerts.rules.ts';
import { type Finding, findingOf } from '../../machines/console/detection/finding.ts';
import type { SensorSnapshot } from '../../machines/console/fleet/sensor.machine.ts';
import { ALERT_WATCH_MS, ALERT_WATCH_WHOLE_MS, ALERTS_POSTED_MAX } from '../../machines/limits.ts';
import type { DeliveryStore } from '../../storage/ports/delivery/delivery-store.ts';
import type { SensorRegistry, SensorRow } from '../../storage/ports/fleet/sensor-registry.ts';
import type { Alerts } from '../detection/alerts.ts';
import { regionsOfSensor } from '../fleet/sensor.actor.ts';
import type { DesignatedLoop } from '../loops/loop.ts';
import type { Chance } from '../trust/chance.ts';

export const SENSOR_WATCH_LOOP = 'sensor-alerts';

export type SensorWatchDeps = {
  readonly ids: () => readonly string[];
  readonly snapshotOf: (sensorId: string) => SensorSnapshot | undefined;
  readonly registry: Pick<SensorRegistry, 'getSensor'>;
  readonly labelsOf: (sensorId: string) => Promise<Labels>;
  readonly deliveries: Pick<DeliveryStore, 'marks' | 'post'>;
  readonly alerts: Pick<Alerts, 'raise' | 'pass'>;
  readonly chance: Pick<Chance, 'newId'>;
  readonly now: () => number;
};
export type Labels = { readonly tags: readonly string[]; readonly groupIds: readonly string[] };
export type SensorWatch = {
  /** A sensor may have moved. */
  note(sensorId: string): void;
  readonly loop: DesignatedLoop;
};

/** Makes the watch. */
export function createSensorWatch(deps: SensorWatchDeps): SensorWatch {
  const moved = new Set<string>();
  let tenure: { readonly epoch: number; readonly marks: Map<string, SensorMark> } | null = null;
  let lookedAtMs = Number.NEGATIVE_INFINITY;

  // A clock that went back looks, too.
  const isWholeDue = (nowMs: number): boolean =>
    Math.abs(nowMs - lookedAtMs) >= ALERT_WATCH_WHOLE_MS;

  async function begin(epoch: number): Promise<Map<string, SensorMark>> {
    if (tenure?.epoch === epoch) return tenure.marks;
    const marks = new Map(await deps.deliveries.marks());
    tenure = { epoch, marks };
    lookedAtMs = Number.NEGATIVE_INFINITY;
    return marks;
  }

  async function run({ epoch }: { readonly epoch: number }): Promise<{ hasMore: boolean }> {
    const marks = await begin(epoch);
    const nowMs = deps.now();
    if (isWholeDue(nowMs)) {
      for (const id of deps.ids()) moved.add(id);
      lookedAtMs = nowMs;
    }
    const batch: { readonly sensorId: string; readonly mark: SensorMark }[] = [];
    const findings: Finding[] = [];
    const over: string[] = [];
    for (const sensorId of moved) {
      if (findings.length >= ALERTS_POSTED_MAX || batch.length >= ALERTS_POSTED_MAX) break;
      const before = marks.get(sensorId) ?? UNMARKED;
      const snapshot = deps.snapshotOf(sensorId);
      const mark = snapshot === undefined ? before : markOf(snapshot, before, nowMs);
      if (!isSameMark(before, mark)) {
        findings.push(...(await findingsOf(deps, { sensorId, before, mark, nowMs })));
        over.push(...passedOf(before, mark).map((kind) => keyOf(kind, sensorId)));
        batch.push({ sensorId, mark });
      }
      moved.delete(sensorId);
    }
    try {
      await deps.alerts.pass(over, epoch);
      await deps.alerts.raise(findings, epoch);
      if (batch.length > 0) {
        const nothing = { alerts: [], deliveries: [] };
        await deps.deliveries.post({ epoch, nowMs, ...nothing, marks: batch });
      }
    } catch (error) {
      // Held against their marks again.
      for (const { sensorId } of batch) moved.add(sensorId);
      throw error;
    }
    for (const { sensorId, mark } of batch) marks.set(sensorId, mark);
    return { hasMore: moved.size > 0 };
  }

  return {
    note: (sensorId) => void moved.add(sensorId),
    loop: {
      ...{ name: SENSOR_WATCH_LOOP, runsOn: 'designated', everyMs: ALERT_WATCH_MS, run },
      glance: () => moved.size > 0 || isWholeDue(deps.now()),
    },
  };
}

/** What is to be told of a sensor as it is now. What is under way keeps what was told before. */
function markOf(snapshot: SensorSnapshot, before: SensorMark, nowMs: number): SensorMark {
  const { trust, freshness } = regionsOfSensor(snapshot);
  const { notAfterMs, containment } = snapshot.context;
  const { report } = containment;
  const said = report?.state;
  const isSettled = said === 'contained' || said === 'failed' || said === 'released';
  return {
    trust,
    isExpired: notAfterMs !== null && notAfterMs <= nowMs,
    notAfterMs,
    isStale: freshness === 'stale',
    orderId: isSettled ? (report?.orderId ?? null) : before.orderId,
    containment: isSettled ? said : before.containment,
  };
}

async function findingsOf(
  deps: SensorWatchDeps,
  of: {
    readonly sensorId: string;
    readonly before: SensorMark;
    readonly mark: SensorMark;
    readonly nowMs: number;
  },
): Promise<readonly Finding[]> {
  // Most moves are told to nobody; the row is read for those that are.
  if (newsOf(of.before, of.mark, '').length === 0) return [];
  const row = await deps.registry.getSensor(of.sensorId);
  if (row === null) return [];
  const labels = await deps.labelsOf(of.sensorId);
  return newsOf(of.before, of.mark, row.nodeName).map((news) =>
    findingOf(
      alertOf(news, row, labels, { alertId: deps.chance.newId(), nowMs: of.nowMs }),
      occurrenceOf(news.kind, of.sensorId, of.mark, deps.snapshotOf(of.sensorId)),
      { isToldAgain: true },
    ),
  );
}

function keyOf(kind: AlertKind, sensorId: string): string {
  return `${kind} ${sensorId}`;
}

/** Which of all times it is that this is told: the same after a crash, another one the next time. */
function occurrenceOf(
  kind: AlertKind,
  sensorId: string,
  mark: SensorMark,
  snapshot: SensorSnapshot | undefined,
): string {
  if (kind === 'sensor_revoked') return sensorId;
  if (kind === 'containment_changed') return `${sensorId} ${mark.orderId} ${mark.containment}`;
  if (kind === 'sensor_stale') return `${sensorId} ${snapshot?.context.lastHeartbeatAtMs}`;
  return `${sensorId} ${mark.notAfterMs}`;
}

function alertOf(
  news: SensorNews,
  row: SensorRow,
  labels: Labels,
  { alertId, nowMs }: { readonly alertId: string; readonly nowMs: number },
): Alert {
  const { os_name, os_version, architecture, kernel_version } = row.system;
  const { kind, severity, source, headline, detail } = news;
  const texts = {
    ...{ os_name, os_version, architecture, kernel_version },
    ...(row.declaredRole === null ? {} : { declared_role: row.declaredRole }),
  };
  return {
    ...{ alertId, kind, severity, source, headline, detail, ruleId: kind },
    ...{ sensorId: row.sensorId, nodeName: row.nodeName, occurredAtMs: nowMs, observedAtMs: null },
    dedupKey: keyOf(kind, row.sensorId),
    texts,
    tags: labels.tags,
    groupIds: labels.groupIds,
    ...{ relatedEventCount: null, search: null },
  };
}
