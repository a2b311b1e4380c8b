// Removes alerts that were settled long ago; live ones stay. decision: D60, D130
import { ALERTS_KEPT_MS, ALERTS_REMOVED_PER_RUN_MAX } from '../../machines/limits.ts';
import { HOUR_MS } from '../../machines/units.ts';
import type { AlertStore } from '../../storage/ports/detection/alert-store.ts';
import type { DesignatedLoop } from '../loops/loop.ts';

/** Makes the loop. */
export function alertSweepLoop(deps: {
  readonly store: Pick<AlertStore, 'sweep'>;
  readonly now: () => number;
}): DesignatedLoop {
  return {
    name: 'alert-sweep',
    runsOn: 'designated',
    everyMs: HOUR_MS,
    async run({ epoch }) {
      const removed = await deps.store.sweep({
        ...{ epoch, changedBeforeMs: deps.now() - ALERTS_KEPT_MS },
        limit: ALERTS_REMOVED_PER_RUN_MAX,
      });
      return { hasMore: removed === ALERTS_REMOVED_PER_RUN_MAX };
    },
  };
}
