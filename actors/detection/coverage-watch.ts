// What a node could not see or could not tell becomes an alert: an hour of its loss ledger in which events were lost, once
// for each hour. Heartbeats wait for nothing; what is found is handed over by a loop. decision: D48, D130; invariant: I10
import type { Alert } from '../../machines/console/delivery/alert.ts';
import { type Finding, findingOf } from '../../machines/console/detection/finding.ts';
import { COVERAGE_FINDINGS_MAX, COVERAGE_WATCH_MS } from '../../machines/limits.ts';
import { LOSS_PLACES, type LossReport } from '../../machines/wire/loss.ts';
import { processLoop, type UpkeepLoop } from '../loops/loop.ts';
import type { Chance } from '../trust/chance.ts';
import type { Alerts } from './alerts.ts';
import type { LabelsOf } from './running-rule.ts';

export type CoverageWatch = {
  /** A node reported. Waits for nothing, never throws. */
  note(
    teller: { readonly sensorId: string; readonly nodeName: string },
    loss: LossReport | undefined,
    nowMs: number,
  ): void;
  readonly loop: UpkeepLoop;
};

/** Makes the watch. */
export function createCoverageWatch(deps: {
  readonly alerts: Pick<Alerts, 'raise'>;
  readonly labelsOf: LabelsOf;
  readonly chance: Pick<Chance, 'newId'>;
}): CoverageWatch {
  const waiting = new Map<string, Finding>();
  return {
    note({ sensorId, nodeName }, loss, nowMs) {
      for (const hour of loss?.hours ?? []) {
        const lost = LOSS_PLACES.filter((place) => (hour[place] ?? 0) > 0);
        const name = `${sensorId} ${hour.hour}`;
        if (lost.length === 0 || waiting.has(name)) continue;
        // What does not fit is told again with the next report until it is stored.
        if (waiting.size >= COVERAGE_FINDINGS_MAX) return;
        const said = lost.map((place) => `${place} ${hour[place]}`).join(', ');
        const alert = alertOf(
          { sensorId, nodeName, nowMs, detail: `In the hour from ${hour.hour}: ${said}.` },
          { alertId: deps.chance.newId(), labels: deps.labelsOf(sensorId) },
        );
        waiting.set(name, findingOf(alert, name));
      }
    },
    loop: processLoop('coverage-alerts', COVERAGE_WATCH_MS, async () => {
      if (waiting.size === 0) return;
      const taken = [...waiting];
      await deps.alerts.raise(taken.map(([, finding]) => finding));
      for (const [name] of taken) waiting.delete(name);
    }),
  };
}

function alertOf(
  of: {
    readonly sensorId: string;
    readonly nodeName: string;
    readonly nowMs: number;
    readonly detail: string;
  },
  { alertId, labels }: { readonly alertId: string; readonly labels: ReturnType<LabelsOf> },
): Alert {
  const { sensorId, nodeName, nowMs, detail } = of;
  return {
    ...{ alertId, kind: 'coverage_loss', severity: 'high', ruleId: 'coverage_loss', sensorId },
    ...{ nodeName, headline: `Events of ${nodeName} were lost`, detail, source: 'coverage' },
    ...{ occurredAtMs: nowMs, observedAtMs: null, dedupKey: `coverage_loss ${sensorId}` },
    texts: labels.role === null ? {} : { declared_role: labels.role },
    ...{ tags: labels.tags, groupIds: labels.groupIds, relatedEventCount: null, search: null },
  };
}
