// How a day of each table is read for an export: which column says the day, what names a row, and how rows that stand for
// one are read as one. An event that was stored twice is exported once. decision: D157
import {
  type ExportTable,
  startOfDayMs,
  type TableDay,
} from '../../machines/console/exports/export-run.rules.ts';
import { DAY_MS } from '../../machines/units.ts';

type Read = {
  readonly instant: string;
  /** What names a row. */
  readonly key: string;
  readonly isFinal: boolean;
};

const READS: Readonly<Record<ExportTable, Read>> = {
  runtime_events: { instant: 'received_at', key: 'event_id', isFinal: false },
  sensor_transitions: {
    instant: 'at',
    key: 'sensor_id, at, position, actor_kind, region, event',
    isFinal: false,
  },
  sensor_coverage: {
    instant: 'reported_at',
    key: 'sensor_id, hour, stream_id, seen',
    isFinal: true,
  },
  resource_metrics: { instant: 'at', key: 'sensor_id, at', isFinal: true },
  network_flows: {
    instant: 'reported_at',
    key: 'sensor_id, first_seen_at, direction, protocol, remote_ip, port, domain, binary, container_id, connections',
    isFinal: true,
  },
  anomaly_scores: { instant: 'received_at', key: 'sensor_id, at, event_id', isFinal: true },
};

const ONCE =
  ' ORDER BY event_id, sensor_id, observed_at, stream_id, channel, sequence LIMIT 1 BY event_id';

/** Rows of one day; an event that was stored twice twice. */
function rowsOf({ table, day }: TableDay, what: string, more = ''): string {
  const { instant, isFinal } = READS[table];
  const fromMs = startOfDayMs(day);
  const from = `fromUnixTimestamp64Milli(${fromMs})`;
  const to = `fromUnixTimestamp64Milli(${fromMs + DAY_MS})`;
  return `SELECT ${what} FROM ${table}${isFinal ? ' FINAL' : ''}
    WHERE ${instant} >= ${from} AND ${instant} < ${to}${more}`;
}

/** Count, different names and the sum of the names' hashes. */
export function tallyQuery(of: TableDay): string {
  const { key } = READS[of.table];
  const isEvents = of.table === 'runtime_events';
  return `SELECT count() AS row_count, uniqExact(${key}) AS different, sum(cityHash64(${key})) AS hash_sum
    FROM (${rowsOf(of, isEvents ? 'DISTINCT event_id' : '*')})`;
}

/** One part of a day as Parquet: whose hash falls to it, so that a part is the same however often it is read. */
export function partQuery(of: TableDay, part: number, parts: number): string {
  const { key } = READS[of.table];
  const more = parts > 1 ? ` AND cityHash64(${key}) % ${parts} = ${part - 1}` : '';
  const once = of.table === 'runtime_events' ? ONCE : '';
  return `${rowsOf(of, '*', more)}${once} FORMAT Parquet`;
}
