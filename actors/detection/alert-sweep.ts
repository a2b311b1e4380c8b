// Removes alerts that were settled long ago; live ones stay, and what an open investigation holds. decision: D60, D130
import { ALERTS_KEPT_MS, ALERTS_REMOVED_PER_RUN_MAX } from '../../machines/limits.ts';
import { HOUR_MS } from '../../machines/units.ts';
import type { AlertStore } from '../../storage/ports/detection/alert-store.ts';
import type { DesignatedLoop } from '../loops/loop.ts';

export type AlertSweep = {
  readonly loop: DesignatedLoop;
  /** How many since the start. */
  removed(): number;
};

/** Makes the loop. */
export function createAlertSweep(deps: {
  readonly store: Pick<AlertStore, 'sweep'>;
  readonly now: () => number;
}): AlertSweep {
  let count = 0;
  return {
    removed: () => count,
    loop: {
      name: 'alert-sweep',
      runsOn: 'designated',
      everyMs: HOUR_MS,
      async run({ epoch }) {
        const removed = await deps.store.sweep({
          ...{ epoch, changedBeforeMs: deps.now() - ALERTS_KEPT_MS },
          limit: ALERTS_REMOVED_PER_RUN_MAX,
        });
        count += removed;
        return { hasMore: removed === ALERTS_REMOVED_PER_RUN_MAX };
      },
    },
  };
}
