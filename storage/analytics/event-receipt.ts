// Events in the order of their receipt, for whoever takes all of them away. The index of receipt leaves out the granules that
// were written before; the order by place makes a page continue where the last one ended. decision: D152
import type { ClickHouseClient } from '@clickhouse/client';
import type { EventStore } from '../ports/telemetry/event-store.ts';
import { createAsk } from './ask.ts';
import { conditionSql } from './condition-sql.ts';
import { EVENT_COLUMNS, type EventRow, eventOfRow } from './event-rows.ts';

/** The part of the store that answers forwarders. */
export function eventReceipt(client: ClickHouseClient): Pick<EventStore, 'receivedAfter'> {
  return {
    async receivedAfter({ after, beforeMs, condition, limit, signal }) {
      const compiled = condition === null ? { where: '1', params: {} } : conditionSql(condition);
      const rows = await createAsk(client, { signal })<EventRow>(
        `SELECT ${EVENT_COLUMNS} FROM runtime_events
         WHERE received_at >= fromUnixTimestamp64Milli({after_ms: Int64})
           AND received_at < fromUnixTimestamp64Milli({before_ms: Int64})
           AND (received_at > fromUnixTimestamp64Milli({after_ms: Int64})
             OR event_id > {after_id: String})
           AND (${compiled.where})
         ORDER BY received_at, event_id LIMIT 1 BY received_at, event_id LIMIT {row_limit: UInt32}`,
        {
          ...compiled.params,
          ...{ after_ms: Math.floor(after.receivedAtMs), after_id: after.eventId },
          ...{ before_ms: Math.floor(beforeMs), row_limit: limit },
        },
      );
      return rows.map(eventOfRow);
    },
  };
}
