// Hands alerts of the inbox to webhooks: each that is new, and those that want to be told of again. What was not noted as
// told is told once more after a crash; a receiver knows it by its id. decision: D60, D101, D130
import { ALERT_TELL_MS, ALERTS_TOLD_MAX } from '../../machines/limits.ts';
import type { AlertRow, AlertStore } from '../../storage/ports/detection/alert-store.ts';
import type { DesignatedLoop } from '../loops/loop.ts';
import type { AlertIntake } from './alert-intake.ts';

export const ALERT_TELLING_LOOP = 'alert-telling';

/** Makes the loop. */
export function alertTellingLoop(deps: {
  readonly store: Pick<AlertStore, 'untold' | 'told'>;
  readonly intake: AlertIntake;
  readonly now: () => number;
}): DesignatedLoop {
  const { store, intake, now } = deps;
  return {
    name: ALERT_TELLING_LOOP,
    runsOn: 'designated',
    everyMs: ALERT_TELL_MS,
    async run({ epoch }) {
      const rows = await store.untold(ALERTS_TOLD_MAX);
      if (rows.length === 0) return undefined;
      await intake.take({ alerts: rows.map(deliveredOf), epoch });
      const alerts = rows.map(({ alert, revision }) => ({ alertId: alert.alertId, revision }));
      await store.told({ epoch, nowMs: now(), alerts });
      return { hasMore: rows.length === ALERTS_TOLD_MAX };
    },
  };
}

/** The alert as it stands now. */
function deliveredOf({ alert, severity, count }: AlertRow) {
  const isOfEvents = alert.source === 'security_event' || alert.source === 'anomaly';
  return { ...alert, severity, relatedEventCount: isOfEvents ? count : alert.relatedEventCount };
}
