// What heartbeats tell beside events, gathered over the fleet and written in one insert every few seconds; no heartbeat
// waits for it. Rows wait until they are stored: a failed write is tried again, later reports put over earlier ones. When
// too many wait, a report is not taken, and since only what is stored is confirmed, its Sensor sends those hours again; so
// a loss is told until it is known, whatever happens to this process. Resources and flows are samples: what does not fit
// is left out and counted. decision: D48; invariant: I10, I19
import { LRUCache } from 'lru-cache';
import {
  type Intervals,
  TELEMETRY_QUEUE_ROWS_MAX,
  TELEMETRY_SENSORS_MAX,
} from '../../machines/limits.ts';
import type { HeartbeatRequest } from '../../machines/wire/heartbeat.ts';
import type { LossStored } from '../../machines/wire/loss.ts';
import type {
  CoverageRow,
  FlowRow,
  ResourceRow,
  TelemetryStore,
} from '../../storage/ports/telemetry/telemetry-store.ts';
import { processLoop, type UpkeepLoop } from '../loops/loop.ts';
import type { Logger } from '../runtime/logger.ts';
import { coverageRows, flowRows, resourceRow, type Teller } from './telemetry-rows.ts';

export type Telemetry = {
  /** Takes what a heartbeat tells. Waits for nothing, never throws. */
  observe(teller: Teller, beat: HeartbeatRequest, nowMs: number): void;
  /** The sensor's newest loss report whose hours are stored. */
  storedReport(sensorId: string): LossStored | undefined;
  queuedRows(): number;
  /** Samples that were left out. */
  dropped(): number;
  /** Writes what waits; what the store did not take waits for the next run. */
  readonly loop: UpkeepLoop;
  /** Writes what waits, once, then stops. */
  close(): Promise<void>;
};

type Pending = { report: LossStored; readonly hours: Map<string, CoverageRow> };

/** Makes the gathering; its loop writes. */
export function createTelemetry(deps: {
  readonly store: Pick<TelemetryStore, 'insert'>;
  readonly intervals: Pick<
    Intervals,
    'TELEMETRY_COMMIT_INTERVAL_MS' | 'RESOURCE_SAMPLE_INTERVAL_MS'
  >;
  readonly logger: Logger;
  readonly queueRowsMax?: number;
}): Telemetry {
  const { store, intervals, logger, queueRowsMax = TELEMETRY_QUEUE_ROWS_MAX } = deps;
  let losses = new Map<string, Pending>();
  let resources: ResourceRow[] = [];
  let flows: FlowRow[] = [];
  /** Rows that wait, and rows that are being written. */
  let waiting = 0;
  let inFlight = 0;
  let dropped = 0;
  let isClosed = false;
  let writing: Promise<void> = Promise.resolve();
  // What is forgotten of the others is only told again. decision: D47
  const bounds = { maxSize: TELEMETRY_SENSORS_MAX, sizeCalculation: () => 1 };
  const stored = new LRUCache<string, LossStored>(bounds);
  const sampledAtMs = new LRUCache<string, number>(bounds);

  const hasRoom = (rows: number): boolean => waiting + inFlight + rows <= queueRowsMax;

  function takeLosses(teller: Teller, beat: HeartbeatRequest, nowMs: number): void {
    const { loss } = beat;
    const { sensorId } = teller;
    if (loss === undefined || !hasRoom(loss.hours.length)) return;
    const report = { run: loss.run, report: loss.report };
    const own = losses.get(sensorId) ?? { report, hours: new Map<string, CoverageRow>() };
    losses.set(sensorId, own);
    own.report = report;
    for (const row of coverageRows(teller, beat.stream_id, loss, nowMs)) put(own.hours, row);
  }

  function put(hours: Map<string, CoverageRow>, row: CoverageRow): void {
    const key = `${row.streamId} ${row.hourMs}`;
    if (!hours.has(key)) waiting += 1;
    hours.set(key, row);
  }

  function takeSamples(sensorId: string, beat: HeartbeatRequest, nowMs: number): void {
    const lastMs = sampledAtMs.get(sensorId) ?? Number.NEGATIVE_INFINITY;
    const isDue = Math.abs(nowMs - lastMs) >= intervals.RESOURCE_SAMPLE_INTERVAL_MS;
    const rows = (isDue ? 1 : 0) + beat.flows.length;
    if (rows === 0) return;
    if (!hasRoom(rows)) {
      dropped += rows;
      return;
    }
    waiting += rows;
    if (isDue) {
      sampledAtMs.set(sensorId, nowMs);
      resources.push(resourceRow(sensorId, beat, nowMs));
    }
    if (beat.flows.length > 0) flows.push(...flowRows(sensorId, beat.flows, nowMs));
  }

  async function write(): Promise<void> {
    if (waiting === 0 && losses.size === 0) return;
    const [taken, samples] = [losses, { resources, flows }];
    losses = new Map();
    resources = [];
    flows = [];
    inFlight = waiting;
    waiting = 0;
    const coverage = [...taken.values()].flatMap(({ hours }) => [...hours.values()]);
    try {
      await store.insert({ coverage, ...samples });
      for (const [sensorId, { report }] of taken) stored.set(sensorId, report);
    } catch (error) {
      giveBack(taken, samples);
      throw error;
    } finally {
      inFlight = 0;
    }
  }

  function giveBack(
    taken: ReadonlyMap<string, Pending>,
    samples: { readonly resources: ResourceRow[]; readonly flows: FlowRow[] },
  ): void {
    for (const [sensorId, { report, hours }] of taken) {
      const newer = losses.get(sensorId);
      const own = newer ?? { report, hours: new Map<string, CoverageRow>() };
      losses.set(sensorId, own);
      for (const [key, row] of hours) if (!own.hours.has(key)) put(own.hours, row);
    }
    resources = [...samples.resources, ...resources];
    flows = [...samples.flows, ...flows];
    waiting += samples.resources.length + samples.flows.length;
  }

  return {
    loop: processLoop('telemetry-writes', intervals.TELEMETRY_COMMIT_INTERVAL_MS, () => {
      writing = write();
      return writing;
    }),
    observe(teller, beat, nowMs) {
      if (isClosed) return;
      takeLosses(teller, beat, nowMs);
      takeSamples(teller.sensorId, beat, nowMs);
    },
    storedReport: (sensorId) => stored.get(sensorId),
    queuedRows: () => waiting + inFlight,
    dropped: () => dropped,
    async close() {
      isClosed = true;
      await writing.catch(() => undefined);
      await write().catch((error: unknown) => {
        logger.warn(
          { error: String(error) },
          'telemetry is lost at the end; losses are told again',
        );
      });
    },
  };
}
