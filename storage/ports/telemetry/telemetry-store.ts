// What heartbeats tell beside events, over time: the loss ledger by hour, the use of resources, flows. Writers bring the
// rows of many sensors at once; a row that comes again takes the place of the earlier one, and an hour and a flow keep
// their highest counts, because they only rise while clocks go back. Every call throws
// EventStoreUnavailable when the store cannot answer. decision: D48; invariant: I10, I19
import type { PipelineReport } from '../../../machines/wire/heartbeat.ts';
import type { LossPlace } from '../../../machines/wire/loss.ts';

export type SettledCounts = Readonly<Record<'seen' | LossPlace, number>>;
/** One hour of one state directory of a sensor. */
export type CoverageRow = SettledCounts & {
  readonly sensorId: string;
  /** Of its certificate: under another identity of the same node the same hour is told again. */
  readonly nodeName: string;
  readonly streamId: string;
  readonly hourMs: number;
  readonly reportedAtMs: number;
};
export type CoverageHour = SettledCounts & { readonly hourMs: number };
export type SensorCoverage = SettledCounts & { readonly sensorId: string };

export type ResourceRow = {
  readonly sensorId: string;
  readonly atMs: number;
  readonly cpuPercent: number;
  readonly memoryBytes: number;
  /** The whole node; null where the Sensor does not tell. */
  readonly node: {
    readonly cpuPercent: number;
    readonly memoryTotalBytes: number;
    readonly memoryAvailableBytes: number;
  } | null;
  readonly load1m: number | null;
  readonly uptimeSeconds: number | null;
  readonly diskFreeBytes: number | null;
  readonly pipeline: PipelineReport;
};

export type FlowRow = {
  readonly sensorId: string;
  readonly firstSeenAtMs: number;
  readonly lastSeenAtMs: number;
  readonly reportedAtMs: number;
  readonly protocol: string;
  readonly direction: string;
  readonly remoteIp: string;
  /** Of the side that was connected to; 0 when it has none. */
  readonly port: number;
  readonly domain: string;
  readonly binary: string;
  readonly containerId: string;
  readonly connections: number;
};

export type TelemetryRows = {
  readonly coverage: readonly CoverageRow[];
  readonly resources: readonly ResourceRow[];
  readonly flows: readonly FlowRow[];
};

/** `toMs` is exclusive. */
export type TimeSpan = { readonly fromMs: number; readonly toMs: number };

export type TelemetryStore = {
  /** Durable when it resolves. */
  insert(rows: TelemetryRows): Promise<void>;
  /** The hours that begin in the span, ascending; what several state directories counted is added up. */
  coverageOf(query: TimeSpan & { readonly sensorId: string }): Promise<readonly CoverageHour[]>;
  /**
   * Sums of the span by sensor, in the order of their ids; sensors without any row are left out. What one state directory
   * of a node counted in an hour counts once, for the identity that told most of it.
   */
  coverageOfFleet(
    query: TimeSpan & { readonly limit: number; readonly afterSensorId: string | null },
  ): Promise<readonly SensorCoverage[]>;
  /** Newest first. */
  resourcesOf(
    query: TimeSpan & { readonly sensorId: string; readonly limit: number },
  ): Promise<readonly ResourceRow[]>;
  /** Those seen last in the span, newest first. */
  flowsOf(
    query: TimeSpan & { readonly sensorId: string; readonly limit: number },
  ): Promise<readonly FlowRow[]>;
};
