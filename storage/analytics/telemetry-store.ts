// The telemetry store on ClickHouse. A table may hold several reports of one row until they are merged, so every
// question puts them together itself. decision: D48; invariant: I10, I19
import type { ClickHouseClient } from '@clickhouse/client';
import type { PipelineReport } from '../../machines/wire/heartbeat.ts';
import { LOSS_PLACES } from '../../machines/wire/loss.ts';
import type {
  FlowRow,
  ResourceRow,
  SettledCounts,
  TelemetryStore,
} from '../ports/telemetry/telemetry-store.ts';
import { createAsk, insertRows } from './ask.ts';

const COUNTS = ['seen', ...LOSS_PLACES] as const;
const SUMS = COUNTS.map((name) => `sum(highest_${name}) AS ${name}`).join(', ');
const HIGHEST = COUNTS.map((name) => `max(${name}) AS highest_${name}`).join(', ');
/** The highest counts of each hour of each state directory: counts only rise, so they are the newest. */
const newestHours = (where: string) =>
  `SELECT sensor_id, hour, stream_id, ${HIGHEST}
   FROM sensor_coverage
   WHERE ${where} AND hour >= fromUnixTimestamp64Milli({from_ms: Int64})
     AND hour < fromUnixTimestamp64Milli({to_ms: Int64})
   GROUP BY sensor_id, hour, stream_id`;
const SETTLED = COUNTS.join(' + ');
const SUMS_OF_NODES = COUNTS.map((name) => `sum(node_${name}) AS ${name}`).join(', ');
const HIGHEST_OF_NODES = COUNTS.map((name) => `max(${name}) AS node_${name}`).join(', ');
/**
 * Each hour of a node's state directory once: a new identity of the node goes on with the ledger and tells the hour again,
 * with all that was settled in it. Directories are told apart by the node, as images of one may start on many.
 */
const HOURS_OF_NODES = `
  SELECT argMax(sensor_id, (${SETTLED}, reported_at)) AS owner, ${HIGHEST_OF_NODES}
  FROM sensor_coverage
  WHERE hour >= fromUnixTimestamp64Milli({from_ms: Int64})
    AND hour < fromUnixTimestamp64Milli({to_ms: Int64})
  GROUP BY if(node_name = '', sensor_id, node_name), stream_id, hour`;
const HOUR_COLUMN_MAX_MS = 4_102_444_800_000;
const PORT_COLUMN_MAX = 4_294_967_295;

type Counted = Readonly<Record<(typeof COUNTS)[number], string>>;

/** Makes the store on a client. */
export function createTelemetryStore(client: ClickHouseClient): TelemetryStore {
  const ask = createAsk(client);
  const span = (query: { readonly fromMs: number; readonly toMs: number }) => ({
    from_ms: withinColumn(query.fromMs),
    to_ms: withinColumn(query.toMs),
  });
  return {
    async insert({ coverage, resources, flows }) {
      await insertRows(
        client,
        'sensor_coverage',
        coverage.map(({ sensorId, nodeName, streamId, hourMs, reportedAtMs, ...counts }) => ({
          sensor_id: sensorId,
          node_name: nodeName.toWellFormed(),
          stream_id: streamId,
          hour: Math.floor(withinColumn(hourMs) / 1_000),
          reported_at: reportedAtMs,
          ...counts,
        })),
      );
      await insertRows(client, 'resource_metrics', resources.map(resourceColumns));
      await insertRows(client, 'network_flows', flows.map(flowColumns));
    },
    async coverageOf(query) {
      const rows = await ask<Counted & { readonly hour_s: string }>(
        `SELECT toUnixTimestamp(hour) AS hour_s, ${SUMS}
         FROM (${newestHours('sensor_id = {sensor_id: String}')}) GROUP BY hour ORDER BY hour`,
        { sensor_id: query.sensorId, ...span(query) },
      );
      return rows.map((row) => ({ hourMs: Number(row.hour_s) * 1_000, ...countsOf(row) }));
    },
    async coverageOfFleet(query) {
      const rows = await ask<Counted & { readonly sensor_id: string }>(
        `SELECT owner AS sensor_id, ${SUMS_OF_NODES} FROM (${HOURS_OF_NODES})
         WHERE owner > {after: String}
         GROUP BY owner ORDER BY owner LIMIT {row_limit: UInt32}`,
        { after: query.afterSensorId ?? '', row_limit: query.limit, ...span(query) },
      );
      return rows.map((row) => ({ sensorId: row.sensor_id, ...countsOf(row) }));
    },
    async resourcesOf(query) {
      const rows = await ask<ResourceColumns>(
        `SELECT sensor_id, toUnixTimestamp64Milli(at) AS at_ms, cpu_percent, memory_bytes,
           node_cpu_percent, node_memory_total_bytes, node_memory_available_bytes, load_1m,
           uptime_seconds, disk_free_bytes, pipeline
         FROM resource_metrics FINAL
         WHERE sensor_id = {sensor_id: String} AND at >= fromUnixTimestamp64Milli({from_ms: Int64})
           AND at < fromUnixTimestamp64Milli({to_ms: Int64})
         ORDER BY at DESC LIMIT {row_limit: UInt32}`,
        { sensor_id: query.sensorId, row_limit: query.limit, ...span(query) },
      );
      return rows.map(resourceOf);
    },
    async flowsOf(query) {
      const rows = await ask<FlowColumns>(
        `SELECT sensor_id, toUnixTimestamp64Milli(first_seen_at) AS first_ms,
           toUnixTimestamp64Milli(last_seen_at) AS last_ms,
           toUnixTimestamp64Milli(reported_at) AS reported_ms, protocol, direction, remote_ip, port,
           domain, binary, container_id, connections
         FROM network_flows FINAL
         WHERE sensor_id = {sensor_id: String}
           AND last_seen_at >= fromUnixTimestamp64Milli({from_ms: Int64})
           AND last_seen_at < fromUnixTimestamp64Milli({to_ms: Int64})
         ORDER BY last_seen_at DESC LIMIT {row_limit: UInt32}`,
        { sensor_id: query.sensorId, row_limit: query.limit, ...span(query) },
      );
      return rows.map(flowOf);
    },
  };
}

function withinColumn(ms: number): number {
  return Math.min(HOUR_COLUMN_MAX_MS, Math.max(0, Math.floor(ms)));
}

function countsOf(row: Counted): SettledCounts {
  return Object.fromEntries(COUNTS.map((name) => [name, Number(row[name])])) as SettledCounts;
}

type ResourceColumns = {
  readonly sensor_id: string;
  readonly at_ms: string;
  readonly cpu_percent: number;
  readonly memory_bytes: string;
  readonly node_cpu_percent: number | null;
  readonly node_memory_total_bytes: string | null;
  readonly node_memory_available_bytes: string | null;
  readonly load_1m: number | null;
  readonly uptime_seconds: number | null;
  readonly disk_free_bytes: string | null;
  readonly pipeline: Readonly<Record<keyof PipelineReport, string>>;
};

function resourceColumns(row: ResourceRow) {
  return {
    sensor_id: row.sensorId,
    at: row.atMs,
    cpu_percent: row.cpuPercent,
    memory_bytes: row.memoryBytes,
    node_cpu_percent: row.node?.cpuPercent ?? null,
    node_memory_total_bytes: row.node?.memoryTotalBytes ?? null,
    node_memory_available_bytes: row.node?.memoryAvailableBytes ?? null,
    load_1m: row.load1m,
    uptime_seconds: row.uptimeSeconds,
    disk_free_bytes: row.diskFreeBytes,
    pipeline: row.pipeline,
  };
}

function resourceOf(row: ResourceColumns): ResourceRow {
  const counts = Object.entries(row.pipeline).map(([name, count]) => [name, Number(count)]);
  return {
    sensorId: row.sensor_id,
    atMs: Number(row.at_ms),
    cpuPercent: row.cpu_percent,
    memoryBytes: Number(row.memory_bytes),
    node:
      row.node_cpu_percent === null
        ? null
        : {
            cpuPercent: row.node_cpu_percent,
            memoryTotalBytes: Number(row.node_memory_total_bytes),
            memoryAvailableBytes: Number(row.node_memory_available_bytes),
          },
    load1m: row.load_1m,
    uptimeSeconds: row.uptime_seconds,
    diskFreeBytes: row.disk_free_bytes === null ? null : Number(row.disk_free_bytes),
    pipeline: Object.fromEntries(counts) as PipelineReport,
  };
}

type FlowColumns = {
  readonly sensor_id: string;
  readonly first_ms: string;
  readonly last_ms: string;
  readonly reported_ms: string;
  readonly protocol: string;
  readonly direction: string;
  readonly remote_ip: string;
  readonly port: number;
  readonly domain: string;
  readonly binary: string;
  readonly container_id: string;
  readonly connections: string;
};

function flowColumns(row: FlowRow) {
  return {
    sensor_id: row.sensorId,
    first_seen_at: withinColumn(row.firstSeenAtMs),
    last_seen_at: withinColumn(row.lastSeenAtMs),
    reported_at: row.reportedAtMs,
    protocol: row.protocol.toWellFormed(),
    direction: row.direction,
    remote_ip: row.remoteIp.toWellFormed(),
    port: Math.min(PORT_COLUMN_MAX, row.port),
    domain: row.domain.toWellFormed(),
    binary: row.binary.toWellFormed(),
    container_id: row.containerId.toWellFormed(),
    connections: row.connections,
  };
}

function flowOf(row: FlowColumns): FlowRow {
  return {
    sensorId: row.sensor_id,
    firstSeenAtMs: Number(row.first_ms),
    lastSeenAtMs: Number(row.last_ms),
    reportedAtMs: Number(row.reported_ms),
    protocol: row.protocol,
    direction: row.direction,
    remoteIp: row.remote_ip,
    port: row.port,
    domain: row.domain,
    binary: row.binary,
    containerId: row.container_id,
    connections: Number(row.connections),
  };
}
