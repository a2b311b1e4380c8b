// The baseline store on ClickHouse. Scores are fed by a view of the events' table, in the same insert. invariant: I10
import type { ClickHouseClient } from '@clickhouse/client';
import type { Baseline } from '../../machines/wire/baseline.ts';
import type { EventKind } from '../../machines/wire/event.ts';
import type {
  AnomalyScore,
  BaselineStore,
  StoredBaseline,
} from '../ports/telemetry/baseline-store.ts';
import { timestampOfNanos } from '../ports/telemetry/stored-event.ts';
import { createAsk, insertRows } from './ask.ts';

type BaselineColumns = Omit<Baseline, 'learned_since' | 'updated_at'> & {
  readonly learned_ms: string;
  readonly updated_ms: string;
  readonly stored_ms: string;
};
type ScoreColumns = {
  readonly sensor_id: string;
  readonly at_ns: string;
  readonly event_id: string;
  readonly event_kind: EventKind;
  readonly binary: string;
  readonly score: number;
};

/** Makes the store on a client. */
export function createBaselineStore(client: ClickHouseClient): BaselineStore {
  const ask = createAsk(client);
  return {
    put: ({ sensorId, baselines, forgotten, nowMs }) =>
      insertRows(client, 'process_baselines', [
        ...baselines.map((one) => ({
          ...one,
          ...{ binary: one.binary.toWellFormed(), sensor_id: sensorId, stored_at: nowMs },
          learned_since: instantOf(one.learned_since),
          updated_at: instantOf(one.updated_at),
        })),
        ...forgotten.map((binary) => ({
          ...{ sensor_id: sensorId, binary: binary.toWellFormed() },
          ...{ stored_at: nowMs, is_removed: true },
        })),
      ]),
    async baselinesOf({ sensorId, binary, limit, afterBinary }) {
      const rows = await ask<BaselineColumns>(
        `SELECT binary, executions, is_warm, toUnixTimestamp64Milli(learned_since) AS learned_ms,
           toUnixTimestamp64Milli(updated_at) AS updated_ms,
           toUnixTimestamp64Milli(stored_at) AS stored_ms, children, files, destinations, users, hours
         FROM process_baselines FINAL
         WHERE sensor_id = {sensor_id: String} AND binary > {after: String} AND NOT is_removed
           AND ({any: Bool} OR binary = {only: String})
         ORDER BY binary LIMIT {row_limit: UInt32}`,
        {
          ...{ sensor_id: sensorId, after: afterBinary ?? '', row_limit: limit },
          ...{ any: binary === undefined, only: binary?.toWellFormed() ?? '' },
        },
      );
      return rows.map(baselineOf);
    },
    async scoresOf(query) {
      const rows = await ask<ScoreColumns>(
        `SELECT sensor_id, toUnixTimestamp64Nano(at) AS at_ns, event_id, event_kind,
           binary, score
         FROM anomaly_scores
         WHERE sensor_id = {sensor_id: String} AND score >= {at_least: Float64}
           AND at >= fromUnixTimestamp64Milli({from_ms: Int64})
           AND at < fromUnixTimestamp64Milli({to_ms: Int64})
         ORDER BY at DESC, event_id DESC LIMIT 1 BY event_id LIMIT {row_limit: UInt32}`,
        {
          sensor_id: query.sensorId,
          at_least: query.atLeast,
          from_ms: query.fromMs,
          to_ms: query.toMs,
          row_limit: query.limit,
        },
      );
      return rows.map(scoreOf);
    },
  };
}

const COLUMN_MAX_MS = 4_102_444_800_000;

function instantOf(text: string): number {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? 0 : Math.min(COLUMN_MAX_MS, Math.max(0, ms));
}

function baselineOf({
  learned_ms,
  updated_ms,
  stored_ms,
  ...rest
}: BaselineColumns): StoredBaseline {
  return {
    ...rest,
    learned_since: new Date(Number(learned_ms)).toISOString(),
    updated_at: new Date(Number(updated_ms)).toISOString(),
    storedAtMs: Number(stored_ms),
  };
}

function scoreOf(row: ScoreColumns): AnomalyScore {
  return {
    sensorId: row.sensor_id,
    at: timestampOfNanos(row.at_ns),
    eventId: row.event_id,
    eventKind: row.event_kind,
    binary: row.binary,
    score: row.score,
  };
}
