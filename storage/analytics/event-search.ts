// What operators ask of stored events. Each question has an end in time, rows, bytes and memory, and ends when whoever
// asked has gone. invariant: I10; decision: D97
import type { ClickHouseClient } from '@clickhouse/client';
import type { PolicyMatch } from '../../machines/console/policy/rehearsal.rules.ts';
import {
  SEARCH_MEMORY_MAX_BYTES,
  SEARCH_READ_MAX_BYTES,
  SEARCH_READ_ROWS_MAX,
} from '../../machines/limits.ts';
import type { Severity } from '../../machines/wire/event.ts';
import type {
  EventQuery,
  EventStore,
  HistogramBar,
  HistogramQuery,
  PolicyMatchQuery,
  ReceivedBucket,
  ReceivedQuery,
} from '../ports/telemetry/event-store.ts';
import { type AskEvents, createAsk } from './ask.ts';
import { arrivals } from './event-arrivals.ts';
import { filterOf } from './event-filter.ts';
import { shared } from './event-indicators.ts';
import { searchPage } from './event-pages.ts';
import { EVENT_COLUMNS } from './event-rows.ts';
import { topValues } from './event-values.ts';
import { shownSql } from './shown-sql.ts';

const BOUNDS = {
  max_rows_to_read: String(SEARCH_READ_ROWS_MAX),
  max_bytes_to_read: String(SEARCH_READ_MAX_BYTES),
  max_memory_usage: String(SEARCH_MEMORY_MAX_BYTES),
};
type ReceivedRow = {
  readonly bucket: string;
  readonly events: string;
  readonly ids: readonly string[];
};
type BarRow = {
  readonly bar: string;
  readonly severity: Severity;
  readonly events: string;
};
type MatchRow = {
  readonly sensor_id: string;
  readonly policy_name: string;
  readonly policy_action: string;
  readonly events: string;
  readonly last_ms: string;
};

/** The part of the store that answers operators. */
export function eventSearch(
  client: ClickHouseClient,
): Pick<
  EventStore,
  | 'search'
  | 'arrivals'
  | 'countDistinct'
  | 'histogram'
  | 'topValues'
  | 'received'
  | 'shared'
  | 'statementOf'
  | 'policyMatches'
> {
  const ask: AskEvents = ({ signal }, ...asked) =>
    createAsk(client, { settings: BOUNDS, signal, isBounded: true })(...asked);

  return {
    search: (query) => searchPage(ask, query),
    async statementOf(query) {
      const { sql, params } = searchStatement(query);
      return shownSql(sql, params);
    },
    received: (query) => received(ask, query),
    arrivals: (query) => arrivals(ask, query),
    shared: (query) => shared(ask, query),
    async countDistinct(query) {
      const { where, params } = filterOf(query);
      const rows = await ask<{ readonly events: string }>(
        query,
        `SELECT uniqExact(event_id) AS events FROM runtime_events WHERE ${where}`,
        params,
      );
      return Number(rows[0]?.events ?? 0);
    },
    histogram: (query) => histogram(ask, query),
    topValues: (query) => topValues(ask, query),
    policyMatches: (query) => policyMatches(ask, query),
  };
}

// As somebody who knows SQL would ask it; `searchPage` asks the same in parts.
function searchStatement(query: EventQuery): {
  readonly sql: string;
  readonly params: Readonly<Record<string, unknown>>;
} {
  const { where, params } = filterOf(query);
  const direction = query.order === 'ascending' ? 'ASC' : 'DESC';
  const sql = `SELECT ${EVENT_COLUMNS}
FROM runtime_events WHERE ${where}
ORDER BY observed_at ${direction}, event_id ${direction}
LIMIT 1 BY event_id LIMIT {row_limit: UInt32}`;
  return { sql, params: { ...params, row_limit: query.limit } };
}

async function received(ask: AskEvents, query: ReceivedQuery): Promise<readonly ReceivedBucket[]> {
  const { where, params } = filterOf(query);
  // The parameter of an aggregate function has to be a literal.
  const idsMax = Math.max(1, Math.floor(query.idsMax));
  const rows = await ask<ReceivedRow>(
    query,
    `SELECT intDiv(toUnixTimestamp64Milli(received_at), {bucket_ms: Int64}) AS bucket,
           uniqExact(event_id) AS events, groupUniqArray(${idsMax})(event_id) AS ids
         FROM runtime_events WHERE ${where} GROUP BY bucket ORDER BY bucket`,
    { ...params, bucket_ms: query.bucketMs },
  );
  return rows.map(({ bucket, events, ids }) => ({
    ...{ fromMs: Number(bucket) * query.bucketMs, events: Number(events), eventIds: ids },
  }));
}

async function histogram(ask: AskEvents, query: HistogramQuery): Promise<readonly HistogramBar[]> {
  const { where, params } = filterOf(query);
  // Exact up to some tens of thousands in a bar, and of a bounded size beyond. decision: D96
  const rows = await ask<BarRow>(
    query,
    `SELECT intDiv(toUnixTimestamp64Milli(observed_at) - {from_ms: Int64}, {bucket_ms: Int64}) AS bar,
           severity, uniqCombined64(event_id) AS events
         FROM runtime_events WHERE ${where} GROUP BY bar, severity ORDER BY bar, severity`,
    { ...params, bucket_ms: query.bucketMs },
  );
  return barsOf(rows, Math.floor(query.fromMs), query.bucketMs);
}

async function policyMatches(
  ask: AskEvents,
  { sensorIds, policies, ...query }: PolicyMatchQuery,
): Promise<readonly PolicyMatch[]> {
  const { where, params } = filterOf(query);
  const rows = await ask<MatchRow>(
    query,
    `SELECT sensor_id, assumeNotNull(policy.name) AS policy_name, policy.action AS policy_action,
         uniqExact(event_id) AS events, toUnixTimestamp64Milli(max(observed_at)) AS last_ms
       FROM runtime_events
       WHERE ${where} AND sensor_id IN {sensor_ids: Array(String)}
         AND policy.name IN {policies: Array(String)}
       GROUP BY sensor_id, policy_name, policy_action`,
    { ...params, sensor_ids: [...sensorIds], policies: [...policies] },
  );
  return rows.map((row) => ({
    ...{ sensorId: row.sensor_id, policy: row.policy_name, action: row.policy_action },
    ...{ events: Number(row.events), lastAtMs: Number(row.last_ms) },
  }));
}

function barsOf(
  rows: readonly BarRow[],
  fromMs: number,
  bucketMs: number,
): readonly HistogramBar[] {
  const bars = new Map<
    string,
    { fromMs: number; events: number; bySeverity: Record<string, number> }
  >();
  for (const { bar, severity, events } of rows) {
    const found = bars.get(bar) ?? {
      fromMs: fromMs + Number(bar) * bucketMs,
      events: 0,
      bySeverity: {},
    };
    bars.set(bar, found);
    found.events += Number(events);
    found.bySeverity[severity] = Number(events);
  }
  return [...bars.values()];
}
