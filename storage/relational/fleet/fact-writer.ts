// Heartbeat facts of many sensors in one write: the latest row of a sensor wins inside a group. The write itself is
// handed in. decision: D5; invariant: I10, I15
import {
  FACTS_COMMIT_ROWS_MAX,
  FACTS_QUEUE_ROWS_MAX,
  type Intervals,
} from '../../../machines/limits.ts';
import type { FactWriter, HeartbeatFacts } from '../../ports/fleet/sensor-registry.ts';
import type { Timers } from '../../ports/plumbing/clock.ts';
import { createGroupCommit } from '../../ports/plumbing/group-commit.ts';
import type { Logger } from '../../ports/plumbing/logger.ts';

export type FactWriterOptions = {
  /** Writes rows of different sensors, ordered by sensor, all or none; rejects when it could not. */
  readonly write: (rows: readonly HeartbeatFacts[]) => Promise<void>;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly intervals: Pick<Intervals, 'FACTS_COMMIT_INTERVAL_MS'>;
  readonly queueRowsMax?: number;
};

/** Makes the writer. A failed group is answered false; each sensor reports again with its next heartbeat. */
export function createFactWriter(options: FactWriterOptions): FactWriter {
  const group = createGroupCommit<HeartbeatFacts>({
    timers: options.timers,
    intervalMs: options.intervals.FACTS_COMMIT_INTERVAL_MS,
    rowsMax: FACTS_COMMIT_ROWS_MAX,
    queueRowsMax: options.queueRowsMax ?? FACTS_QUEUE_ROWS_MAX,
    async commit(items) {
      try {
        await options.write(latestOfEach(items));
        return items.map(() => true);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        options.logger.warn({ error: reason, rows: items.length }, 'heartbeat facts not written');
        return items.map(() => false);
      }
    },
  });
  return {
    write: (facts) => group.offer(facts, 1),
    queuedRows: () => group.queuedRows(),
    close: () => group.close(),
  };
}

/** The latest row of every sensor, in one order for every replica, so that two groups cannot wait for each other. */
function latestOfEach(items: readonly HeartbeatFacts[]): readonly HeartbeatFacts[] {
  const lastOf = new Map<string, HeartbeatFacts>();
  for (const item of items) {
    const known = lastOf.get(item.sensorId);
    if (known === undefined || known.receivedAtMs <= item.receivedAtMs) {
      lastOf.set(item.sensorId, item);
    }
  }
  return [...lastOf.values()].sort((a, b) => (a.sensorId < b.sensorId ? -1 : 1));
}
