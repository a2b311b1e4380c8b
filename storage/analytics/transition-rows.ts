// The moves of actors as rows: what moved, and what the actor was after it.
import type { ClickHouseClient } from '@clickhouse/client';
import type {
  StoredStanding,
  TransitionQuery,
  TransitionRow,
} from '../ports/telemetry/event-store.ts';
import { type AskAnalytics, insertRows } from './ask.ts';

type TransitionColumns = {
  readonly sensor_id: string;
  readonly at_ms: string;
  readonly actor_kind: string;
  readonly region: string;
  readonly from_state: string;
  readonly to_state: string;
  readonly event: string;
  readonly facts: string;
  readonly standing: string;
  readonly machine: string;
};

/** Newest first; those of one instant, too. */
export async function transitionsOf(
  ask: AskAnalytics,
  { sensorId, limit, beforeMs, fromMs, actorKind }: TransitionQuery,
): Promise<readonly TransitionRow[]> {
  const where = ['sensor_id = {sensor_id: String}'];
  if (beforeMs !== undefined) where.push('at < fromUnixTimestamp64Milli({before_ms: Int64})');
  if (fromMs !== undefined) where.push('at >= fromUnixTimestamp64Milli({from_ms: Int64})');
  if (actorKind !== undefined) where.push('actor_kind = {actor_kind: String}');
  const rows = await ask<TransitionColumns>(
    `SELECT sensor_id, toUnixTimestamp64Milli(at) AS at_ms, actor_kind, region, from_state,
       to_state, event, facts, standing, machine
     FROM sensor_transitions WHERE ${where.join(' AND ')}
     ORDER BY at DESC, position DESC LIMIT {row_limit: UInt32}`,
    {
      ...{ sensor_id: sensorId, row_limit: limit },
      ...(beforeMs === undefined ? {} : { before_ms: Math.ceil(beforeMs) }),
      ...(fromMs === undefined ? {} : { from_ms: Math.ceil(fromMs) }),
      ...(actorKind === undefined ? {} : { actor_kind: actorKind }),
    },
  );
  return rows.map(transitionOf);
}

function transitionOf(row: TransitionColumns): TransitionRow {
  return {
    sensorId: row.sensor_id,
    actorKind: row.actor_kind,
    region: row.region,
    from: row.from_state,
    to: row.to_state,
    event: row.event,
    facts: JSON.parse(row.facts) as TransitionRow['facts'],
    atMs: Number(row.at_ms),
    after:
      row.standing === ''
        ? null
        : {
            ...(JSON.parse(row.standing) as Omit<StoredStanding, 'machine'>),
            machine: row.machine,
          },
  };
}

// Rises within a process and from one process to the next.
let position = 0;

/** Durable when it resolves. */
export async function insertTransitions(
  client: ClickHouseClient,
  rows: readonly TransitionRow[],
): Promise<void> {
  if (rows.length === 0) return;
  position = Math.max(position, Date.now() * 1_000);
  await insertRows(
    client,
    'sensor_transitions',
    rows.map((row) => {
      position += 1;
      const { machine = '', ...standing } = row.after ?? {};
      return {
        sensor_id: row.sensorId,
        at: row.atMs,
        position,
        actor_kind: row.actorKind,
        region: row.region,
        from_state: row.from,
        to_state: row.to,
        event: row.event,
        facts: JSON.stringify(row.facts),
        standing: row.after === null ? '' : JSON.stringify(standing),
        machine,
      };
    }),
  );
}
