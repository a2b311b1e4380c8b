// The reference telemetry store: a row is known by its name. What only rises (the counts of an hour, a flow) is kept at its
// highest, of the rest the newest report.
import { LOSS_PLACES } from '../../../machines/wire/loss.ts';
import type {
  CoverageHour,
  CoverageRow,
  FlowRow,
  ResourceRow,
  SensorCoverage,
  SettledCounts,
  TelemetryStore,
} from '../../ports/telemetry/telemetry-store.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';

export type TelemetryRowsInMemory = {
  readonly calls: Calls<TelemetryStore>;
  /** Every row, for checkers. */
  coverage(): Iterable<CoverageRow>;
  /** The flow of a sensor under its name. */
  flow(sensorId: string, name: string): FlowRow | undefined;
  flows(): Iterable<FlowRow>;
};

/** An empty store. */
export function createTelemetryRows(): TelemetryRowsInMemory {
  const coverage = new Map<string, CoverageRow>();
  const resources = new Map<string, ResourceRow>();
  const flows = new Map<string, FlowRow>();

  const calls: Calls<TelemetryStore> = {
    insert(rows) {
      for (const row of rows.coverage) {
        const key = JSON.stringify([row.sensorId, row.streamId, row.hourMs]);
        coverage.set(key, highest(coverage.get(key), row));
      }
      for (const row of rows.resources)
        resources.set(JSON.stringify([row.sensorId, row.atMs]), row);
      for (const row of rows.flows) {
        const key = `${row.sensorId} ${flowName(row)}`;
        flows.set(key, grown(flows.get(key), row));
      }
    },
    coverageOf({ sensorId, fromMs, toMs }) {
      const hours = new Map<number, CoverageHour>();
      for (const row of coverage.values()) {
        if (row.sensorId !== sensorId || row.hourMs < fromMs || row.hourMs >= toMs) continue;
        hours.set(row.hourMs, { hourMs: row.hourMs, ...plus(hours.get(row.hourMs), row) });
      }
      return [...hours.values()].sort((a, b) => a.hourMs - b.hourMs);
    },
    coverageOfFleet({ fromMs, toMs, limit, afterSensorId }) {
      const sums = new Map<string, SensorCoverage>();
      for (const row of hoursOfNodes(coverage.values())) {
        const { sensorId, hourMs } = row;
        if (hourMs < fromMs || hourMs >= toMs) continue;
        if (afterSensorId !== null && sensorId <= afterSensorId) continue;
        sums.set(sensorId, { sensorId, ...plus(sums.get(sensorId), row) });
      }
      return [...sums.values()].sort((a, b) => (a.sensorId < b.sensorId ? -1 : 1)).slice(0, limit);
    },
    resourcesOf: ({ sensorId, fromMs, toMs, limit }) =>
      [...resources.values()]
        .filter((row) => row.sensorId === sensorId && row.atMs >= fromMs && row.atMs < toMs)
        .sort((a, b) => b.atMs - a.atMs)
        .slice(0, limit),
    flowsOf: ({ sensorId, fromMs, toMs, limit }) =>
      [...flows.values()]
        .filter((one) => one.sensorId === sensorId)
        .filter((one) => one.lastSeenAtMs >= fromMs && one.lastSeenAtMs < toMs)
        .sort((a, b) => b.lastSeenAtMs - a.lastSeenAtMs)
        .slice(0, limit),
  };
  return {
    calls,
    coverage: () => coverage.values(),
    flow: (sensorId, name) => flows.get(`${sensorId} ${name}`),
    flows: () => flows.values(),
  };
}

/** What tells the flows of one sensor apart. */
export function flowName(
  row: Omit<FlowRow, 'sensorId' | 'lastSeenAtMs' | 'reportedAtMs' | 'connections'>,
): string {
  const { firstSeenAtMs, direction, protocol, remoteIp, port } = row;
  return JSON.stringify([
    ...[firstSeenAtMs, direction, protocol, remoteIp, port],
    ...[row.domain, row.binary, row.containerId],
  ]);
}

/** Each hour of a node's state directory once, for the identity that told most of it, or told as much last. */
function hoursOfNodes(rows: Iterable<CoverageRow>): Iterable<CoverageRow> {
  const hours = new Map<string, CoverageRow>();
  for (const row of rows) {
    const key = JSON.stringify([row.nodeName, row.streamId, row.hourMs]);
    const old = hours.get(key);
    const sensorId = old !== undefined && isBefore(row, old) ? old.sensorId : row.sensorId;
    hours.set(key, { ...highest(old, row), sensorId });
  }
  return hours.values();
}

function isBefore(one: CoverageRow, other: CoverageRow): boolean {
  const [own, others] = [settledIn(one), settledIn(other)];
  return own < others || (own === others && one.reportedAtMs < other.reportedAtMs);
}

function settledIn(row: SettledCounts): number {
  return LOSS_PLACES.reduce((sum, place) => sum + row[place], row.seen);
}

function grown(old: FlowRow | undefined, row: FlowRow): FlowRow {
  return {
    ...row,
    connections: Math.max(old?.connections ?? 0, row.connections),
    lastSeenAtMs: Math.max(old?.lastSeenAtMs ?? 0, row.lastSeenAtMs),
    reportedAtMs: Math.max(old?.reportedAtMs ?? 0, row.reportedAtMs),
  };
}

function highest(old: CoverageRow | undefined, row: CoverageRow): CoverageRow {
  const counts = { seen: Math.max(old?.seen ?? 0, row.seen) } as Record<string, number>;
  for (const place of LOSS_PLACES) counts[place] = Math.max(old?.[place] ?? 0, row[place]);
  const reportedAtMs = Math.max(old?.reportedAtMs ?? 0, row.reportedAtMs);
  return { ...row, ...(counts as SettledCounts), reportedAtMs };
}

function plus(sum: SettledCounts | undefined, more: SettledCounts): SettledCounts {
  const counts = { seen: (sum?.seen ?? 0) + more.seen } as Record<keyof SettledCounts, number>;
  for (const place of LOSS_PLACES) counts[place] = (sum?.[place] ?? 0) + more[place];
  return counts;
}
