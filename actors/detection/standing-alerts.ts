// Alerts of what holds or does not: each occurrence is told once, and is over when it holds no more. What was told before is
// remembered for a tenure; at the begin of one everything is told again, and the inbox knows the names. decision: D60, D130

import type { Alert } from '../../machines/console/delivery/alert.ts';
import { type Finding, findingOf } from '../../machines/console/detection/finding.ts';
import type { Alerts } from './alerts.ts';

export type Standing = {
  /** What holds now. */
  readonly holding: readonly { readonly alert: Alert; readonly occurrence: string }[];
  /** Dedup keys of what is known not to hold now. */
  readonly over: readonly string[];
};

/** Makes the telling. It rejects with StoreUnavailable, and with Overtaken under an epoch that is over; then it is told again. */
export function createStandingAlerts(
  alerts: Pick<Alerts, 'raise' | 'pass'>,
): (standing: Standing, epoch: number) => Promise<void> {
  let tenure: number | null = null;
  /** By dedup key, the occurrence that was told; null for one that is over. */
  const told = new Map<string, string | null>();

  return async ({ holding, over }, epoch) => {
    if (tenure !== epoch) told.clear();
    tenure = epoch;
    const held = new Set(holding.map(({ alert }) => alert.dedupKey));
    const gone = [...told].flatMap(([key, was]) => (was === null || held.has(key) ? [] : [key]));
    const passed = [...new Set([...gone, ...over.filter((key) => !told.has(key))])];
    await alerts.pass(passed, epoch);
    for (const key of passed) told.set(key, null);
    const fresh = holding.filter(
      ({ alert, occurrence }) => told.get(alert.dedupKey) !== occurrence,
    );
    const findings: Finding[] = fresh.map((one) => findingOf(one.alert, one.occurrence));
    if (findings.length > 0) await alerts.raise(findings, epoch);
    for (const { alert, occurrence } of fresh) told.set(alert.dedupKey, occurrence);
  };
}
