// Questions to ClickHouse about itself. An external server may tell us little of its system tables: what it refuses is null.
// decision: D155
import type { ClickHouseClient } from '@clickhouse/client';
import type { AnalyticsFacts, AnalyticsHealth } from '../ports/telemetry/analytics-health.ts';
import { EventStoreUnavailable } from '../ports/telemetry/event-store.ts';
import { createAsk, insertRows } from './ask.ts';

const PARTS = `
  SELECT sum(active_parts) AS parts, max(active_parts) AS most FROM (
    SELECT count() AS active_parts FROM system.parts
    WHERE active AND database = currentDatabase() GROUP BY table, partition)`;
const MERGES = `
  SELECT count() AS merges, max(elapsed) AS longest FROM system.merges
  WHERE database = currentDatabase()`;
/** The fullest of its disks. */
const DISKS = `
  SELECT free_space AS free, total_space AS total FROM system.disks
  WHERE total_space > 0 ORDER BY free_space / total_space LIMIT 1`;

/** Makes the port on a client. */
export function createAnalyticsHealth(client: ClickHouseClient): AnalyticsHealth {
  const ask = createAsk(client);
  async function told<Row>(query: string): Promise<Partial<Row>> {
    // What we may not read is no failure: whether it answers at all is asked by the others.
    const rows = await ask<Row>(query).catch(() => []);
    return rows[0] ?? {};
  }
  return {
    async ping() {
      const answer = await client.ping({ select: true }).catch(() => ({ success: false }));
      if (!answer.success) throw new EventStoreUnavailable('it does not answer a ping');
    },
    insert: (atMs) => insertRows(client, 'health_probes', [{ at: timeOf(atMs) }]),
    async query() {
      await ask(
        `SELECT count() AS events FROM runtime_events WHERE received_at > now() - INTERVAL 1 MINUTE`,
      );
    },
    async facts(): Promise<AnalyticsFacts> {
      const parts = await told<{ parts: string; most: string }>(PARTS);
      const merges = await told<{ merges: string; longest: number }>(MERGES);
      const disks = await told<{ free: string; total: string }>(DISKS);
      return {
        parts: numberOf(parts.parts),
        partsMost: numberOf(parts.most),
        merges: numberOf(merges.merges),
        longestMergeMs: merges.longest === undefined ? null : Number(merges.longest) * 1_000,
        diskFreeBytes: numberOf(disks.free),
        diskTotalBytes: numberOf(disks.total),
      };
    },
  };
}

/** As DateTime64 is read: in UTC, without letters. */
function timeOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, -1).replace('T', ' ');
}

function numberOf(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}
