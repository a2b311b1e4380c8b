// Two nodes that use one identity are told to people: an alert of the sensor, on which every refused stream counts.
// Streams wait for nothing; what is found is handed over by a loop, which is woken for it. decision: D130, D172
import type { Alert } from '../../machines/console/delivery/alert.ts';
import { type Finding, findingOf } from '../../machines/console/detection/finding.ts';
import {
  IDENTITY_CONFLICT_MATCHES_MAX,
  IDENTITY_CONFLICT_WATCH_MS,
} from '../../machines/limits.ts';
import type { Alerts } from '../detection/alerts.ts';
import { processLoop, type UpkeepLoop } from '../loops/loop.ts';
import type { Chance } from '../trust/chance.ts';
import type { Labels } from './sensor-watch.ts';

export const IDENTITY_CONFLICT_LOOP = 'identity-conflicts';

export type ConflictWatch = {
  /** A stream was refused to the second of two. Waits for nothing, never throws. */
  note(sensorId: string, from: string, atMs: number): void;
  readonly loop: UpkeepLoop;
};
type Refused = { readonly from: string; readonly atMs: number };

/** Makes the watch. */
export function createConflictWatch(deps: {
  readonly alerts: Pick<Alerts, 'raise'>;
  readonly labelsOf: (sensorId: string) => Promise<Labels>;
  readonly nodeNameOf: (sensorId: string) => Promise<string | undefined>;
  readonly chance: Pick<Chance, 'newId'>;
}): ConflictWatch {
  const waiting = new Map<string, Refused[]>();

  async function conflictOf(sensorId: string, refused: readonly Refused[]): Promise<Finding> {
    const { tags, groupIds } = await deps.labelsOf(sensorId);
    const nodeName = (await deps.nodeNameOf(sensorId)) ?? sensorId;
    const [first] = refused;
    const alert: Alert = {
      ...{ alertId: deps.chance.newId(), kind: 'identity_conflict', severity: 'critical' },
      ...{ source: 'trust', ruleId: 'identity_conflict', sensorId, nodeName },
      headline: `Two nodes use the identity of ${nodeName}`,
      detail: `A second stream, from ${first?.from}, was refused because the first one still answers. Find the copy, or revoke the sensor.`,
      ...{ occurredAtMs: first?.atMs ?? 0, observedAtMs: null, texts: {}, tags, groupIds },
      ...{ dedupKey: `identity_conflict ${sensorId}`, relatedEventCount: null, search: null },
    };
    const matches = refused.map(({ atMs }) => ({
      ...{ matchId: `${sensorId} ${atMs}`, isEvent: false, atMs },
    }));
    return { ...findingOf(alert, sensorId), matches };
  }

  return {
    note(sensorId, from, atMs) {
      const own = waiting.get(sensorId) ?? [];
      // What does not fit is told again with the next try of the second one.
      if (own.length < IDENTITY_CONFLICT_MATCHES_MAX) own.push({ from, atMs });
      waiting.set(sensorId, own);
    },
    loop: processLoop(IDENTITY_CONFLICT_LOOP, IDENTITY_CONFLICT_WATCH_MS, async () => {
      for (const [sensorId, refused] of [...waiting]) {
        const taken = [...refused];
        await deps.alerts.raise([await conflictOf(sensorId, taken)]);
        refused.splice(0, taken.length);
        if (refused.length === 0) waiting.delete(sensorId);
      }
    }),
  };
}
