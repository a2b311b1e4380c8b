// Heartbeat facts of many sensors in one statement. The latest row of a sensor wins inside a group, and an older
// report never replaces a newer one of another group or replica. decision: D5; invariant: I10, I15
import { type Kysely, sql } from 'kysely';
import {
  FACTS_COMMIT_ROWS_MAX,
  FACTS_QUEUE_ROWS_MAX,
  type Intervals,
} from '../../machines/limits.ts';
import type { Timers } from '../ports/clock.ts';
import { createGroupCommit } from '../ports/group-commit.ts';
import type { Logger } from '../ports/logger.ts';
import type { FactWriter, HeartbeatFacts } from '../ports/sensor-registry.ts';
import { storableText } from '../ports/stored-text.ts';
import type { Database } from './tables.ts';

export type FactWriterOptions = {
  readonly db: Kysely<Database>;
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
        await writeFacts(options.db, items);
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

async function writeFacts(db: Kysely<Database>, items: readonly HeartbeatFacts[]): Promise<void> {
  const lastOf = new Map<string, HeartbeatFacts>();
  for (const item of items) {
    const known = lastOf.get(item.sensorId);
    if (known === undefined || known.receivedAtMs <= item.receivedAtMs) {
      lastOf.set(item.sensorId, item);
    }
  }
  // One order for every replica, so that two groups cannot wait for each other.
  const rows = [...lastOf.values()].sort((a, b) => (a.sensorId < b.sensorId ? -1 : 1));
  await sql`
    UPDATE sensors AS s
    SET last_heartbeat_at_ms = v.received_at_ms, boot_id = v.boot_id,
      sensor_version = v.sensor_version, system = v.system::json, facts = v.facts::json
    FROM unnest(
      ${rows.map((row) => row.sensorId)}::text[],
      ${rows.map((row) => row.receivedAtMs)}::bigint[],
      ${rows.map((row) => storableText(row.bootId))}::text[],
      ${rows.map((row) => storableText(row.sensorVersion))}::text[],
      ${rows.map((row) => JSON.stringify(row.system))}::text[],
      ${rows.map((row) => JSON.stringify(row.facts))}::text[]
    ) AS v (sensor_id, received_at_ms, boot_id, sensor_version, system, facts)
    WHERE s.sensor_id = v.sensor_id
      AND (s.last_heartbeat_at_ms IS NULL OR s.last_heartbeat_at_ms <= v.received_at_ms)
  `.execute(db);
}
