// Keeps the table of deliveries within bounds: too many that wait for one webhook push out the oldest of them, which are
// dead and counted, and what ended long ago is removed. invariant: I10, I19; decision: D101
import { type Alert, OF_FLEET } from '../../machines/console/delivery/alert.ts';
import { findingOf } from '../../machines/console/detection/finding.ts';
import {
  DELIVERIES_KEPT_MS,
  DELIVERIES_REMOVED_PER_RUN_MAX,
  DELIVERIES_WAITING_PER_WEBHOOK_MAX,
} from '../../machines/limits.ts';
import { MINUTE_MS } from '../../machines/units.ts';
import type { DeliveryCounts, DeliveryStore } from '../../storage/ports/delivery/delivery-store.ts';
import type { Alerts } from '../detection/alerts.ts';
import type { DesignatedLoop } from '../loops/loop.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Chance } from '../trust/chance.ts';

export type DeliveryBacklog = {
  readonly loop: DesignatedLoop;
  /** What is kept, as it was last counted here. */
  counts(): DeliveryCounts;
};

/** Makes the loop. */
export function createDeliverySweep(deps: {
  readonly deliveries: Pick<DeliveryStore, 'sweep' | 'counts'>;
  readonly alerts: Pick<Alerts, 'raise'>;
  readonly chance: Pick<Chance, 'newId'>;
  readonly logger: Logger;
  readonly now: () => number;
}): DeliveryBacklog {
  let counts: DeliveryCounts = [];
  return {
    counts: () => counts,
    loop: {
      name: 'delivery-sweep',
      runsOn: 'designated',
      everyMs: MINUTE_MS,
      async run({ epoch }) {
        const nowMs = deps.now();
        const limit = DELIVERIES_REMOVED_PER_RUN_MAX;
        const { dropped, removed } = await deps.deliveries.sweep({
          ...{ epoch, nowMs, limit, waitingMax: DELIVERIES_WAITING_PER_WEBHOOK_MAX },
          endedBeforeMs: nowMs - DELIVERIES_KEPT_MS,
        });
        if (dropped > 0) {
          deps.logger.error({ dropped }, 'deliveries were pushed out: too many wait');
          const alert = alertOf(dropped, deps.chance.newId(), nowMs);
          await deps.alerts.raise(
            [findingOf(alert, `pushed out/${nowMs}`, { isToldAgain: true })],
            epoch,
          );
        }
        counts = await deps.deliveries.counts();
        return { hasMore: Math.max(dropped, removed) === limit };
      },
    },
  };
}

function alertOf(dropped: number, alertId: string, nowMs: number): Alert {
  return {
    ...OF_FLEET,
    ...{ alertId, kind: 'destination_failing', severity: 'critical', ruleId: 'deliveries' },
    headline: `${dropped} deliveries were pushed out`,
    detail:
      'Too many wait for one webhook; the oldest are dead. Mend the receiver or raise its rate.',
    ...{ occurredAtMs: nowMs, source: 'system', dedupKey: 'deliveries' },
  };
}
