// What people are told of a SIEM destination: that it stopped, or that it fails for long. decision: D153, D156
import { type Alert, OF_FLEET } from '../../machines/console/delivery/alert.ts';
import type { SiemStanding } from '../../machines/console/siem/siem-standing.ts';
import type { SiemRow } from '../../storage/ports/siem/siem-store.ts';

/** The key of all alerts of a destination. */
export const siemAlertKey = (destinationId: string): string => `siem/${destinationId}`;

/** The alert that a move means; null when it means none. */
export function alertOfSiem({
  row: { destinationId, name, standing: before },
  after,
  alertId,
  nowMs,
}: {
  readonly row: SiemRow;
  readonly after: SiemStanding;
  readonly alertId: string;
  readonly nowMs: number;
}): Alert | null {
  if (after.state === before.state) return null;
  if (after.state !== 'stopped' && after.state !== 'open') return null;
  const isStopped = after.state === 'stopped';
  const why = after.lastFailure ?? '';
  return {
    ...OF_FLEET,
    ...{ alertId, kind: 'destination_failing', severity: isStopped ? 'critical' : 'high' },
    ruleId: destinationId,
    headline: isStopped
      ? `Forwarding to ${name} stopped`
      : `Forwarding to ${name} fails again and again`,
    detail: isStopped
      ? `The SIEM refuses what is sent. ${why} Correct the destination and resume it; events wait.`
      : `It is tried now and then. ${why} Events wait until it takes them.`,
    ...{ occurredAtMs: nowMs, source: 'system', dedupKey: siemAlertKey(destinationId) },
  };
}
