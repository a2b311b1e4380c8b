// Rows of the telemetry store out of one heartbeat. Nothing in it is believed: an instant that is none, or that no column
// holds, becomes one that it does. invariant: I9
import type { HeartbeatRequest, PipelineReport } from '../../machines/wire/heartbeat.ts';
import { LOSS_PLACES, type LossReport } from '../../machines/wire/loss.ts';
import type { IdentityRecord } from '../../storage/ports/fleet/sensor-registry.ts';
import type {
  CoverageRow,
  FlowRow,
  ResourceRow,
  SettledCounts,
} from '../../storage/ports/telemetry/telemetry-store.ts';

/** Who tells, by its certificate. */
export type Teller = Pick<IdentityRecord, 'sensorId' | 'nodeName'>;
const HOUR_MS = 3_600_000;
const INSTANT_MAX_MS = 4_102_444_800_000;

/** One row an hour; an hour that is named twice counts as its last. */
export function coverageRows(
  { sensorId, nodeName }: Teller,
  streamId: string,
  loss: LossReport,
  nowMs: number,
): readonly CoverageRow[] {
  return loss.hours.map(({ hour, ...counts }) => ({
    ...{ sensorId, nodeName, streamId, reportedAtMs: nowMs },
    hourMs: Math.floor(instantOf(hour, nowMs) / HOUR_MS) * HOUR_MS,
    ...settledOf(counts),
  }));
}

/** All counts of a report, what it left out as 0. */
export function settledOf(counts: Partial<SettledCounts>): SettledCounts {
  const settled = { seen: counts.seen ?? 0 } as Record<keyof SettledCounts, number>;
  for (const place of LOSS_PLACES) settled[place] = counts[place] ?? 0;
  return settled;
}

/** The counters of a pipeline, without what else a body may hold. */
export function pipelineOf(pipeline: PipelineReport): PipelineReport {
  return {
    read: pipeline.read,
    normalized: pipeline.normalized,
    dropped: pipeline.dropped,
    aggregated: pipeline.aggregated,
    spooled: pipeline.spooled,
    spool_depth: pipeline.spool_depth,
    discarded: pipeline.discarded,
    sent_stream: pipeline.sent_stream,
    sent_heartbeat: pipeline.sent_heartbeat,
    engine_lost: pipeline.engine_lost,
  };
}

/** The use of resources at one moment, with the counters of the pipeline. */
export function resourceRow(sensorId: string, beat: HeartbeatRequest, nowMs: number): ResourceRow {
  const { resources, pipeline } = beat;
  return {
    sensorId,
    atMs: nowMs,
    cpuPercent: resources.cpu_percent,
    memoryBytes: resources.memory_bytes,
    node: nodeOf(resources.node),
    load1m: resources.load_1m ?? null,
    uptimeSeconds: resources.uptime_seconds ?? null,
    diskFreeBytes: resources.disk_free_bytes ?? null,
    pipeline: pipelineOf(pipeline),
  };
}

function nodeOf(node: HeartbeatRequest['resources']['node']): ResourceRow['node'] {
  if (node === undefined) return null;
  return {
    cpuPercent: node.cpu_percent,
    memoryTotalBytes: node.memory_total_bytes,
    memoryAvailableBytes: node.memory_available_bytes,
  };
}

/** One row a flow. */
export function flowRows(
  sensorId: string,
  flows: HeartbeatRequest['flows'],
  nowMs: number,
): readonly FlowRow[] {
  return flows.map((flow) => ({
    sensorId,
    firstSeenAtMs: instantOf(flow.first_seen_at, nowMs),
    lastSeenAtMs: instantOf(flow.last_seen_at, nowMs),
    reportedAtMs: nowMs,
    protocol: flow.protocol,
    direction: flow.direction,
    remoteIp: flow.remote_ip,
    port: flow.port ?? 0,
    domain: flow.domain ?? '',
    binary: flow.binary ?? '',
    containerId: flow.container_id ?? '',
    connections: flow.connections,
  }));
}

function instantOf(text: string, otherwiseMs: number): number {
  const ms = Date.parse(text);
  return Math.min(INSTANT_MAX_MS, Math.max(0, Number.isNaN(ms) ? otherwiseMs : ms));
}
