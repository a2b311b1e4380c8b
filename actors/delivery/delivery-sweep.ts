// Keeps the table of deliveries within bounds: too many that wait for one webhook push out the oldest of them, which are
// dead and counted, and what ended long ago is removed. invariant: I10, I19; decision: D101
import {
  DELIVERIES_KEPT_MS,
  DELIVERIES_REMOVED_PER_RUN_MAX,
  DELIVERIES_WAITING_PER_WEBHOOK_MAX,
} from '../../machines/limits.ts';
import { MINUTE_MS } from '../../machines/units.ts';
import type { DeliveryCounts, DeliveryStore } from '../../storage/ports/delivery/delivery-store.ts';
import type { DesignatedLoop } from '../loops/loop.ts';
import type { Logger } from '../runtime/logger.ts';

export type DeliveryBacklog = {
  readonly loop: DesignatedLoop;
  /** What is kept, as it was last counted here. */
  counts(): DeliveryCounts;
};

/** Makes the loop. */
export function createDeliverySweep(deps: {
  readonly deliveries: Pick<DeliveryStore, 'sweep' | 'counts'>;
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
        }
        counts = await deps.deliveries.counts();
        return { hasMore: Math.max(dropped, removed) === limit };
      },
    },
  };
}
