// Floors of sinks in PostgreSQL, by its own clock. The row of the horizon is locked by whoever moves it, so a Console that
// joins never promises less than what was read before. decision: D152
import { type Kysely, sql, type Transaction } from 'kysely';
import { SINK_FLOOR_LEASE_MS } from '../../../machines/limits.ts';
import { FLEET_RULES_CURSOR } from '../../ports/detection/rule-store.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { SinkFloors } from '../../ports/siem/sink-floors.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import { holdFence } from '../runtime/fence.ts';
import { moveOne } from './siem-store.ts';

const NOW_MS = sql<number>`(extract(epoch FROM clock_timestamp()) * 1000)::bigint`;

/** Makes the port. */
export function createSinkFloors(db: Kysely<Database>): SinkFloors {
  const transaction = <T>(run: (trx: Transaction<Database>) => Promise<T>): Promise<T> =>
    orUnavailable(() => db.transaction().execute(run));
  return {
    join: (input) => transaction((trx) => join(trx, input)),
    tell: ({ life, floorMs }) =>
      orUnavailable(async () => {
        const { rows } = await sql<{ now_ms: number }>`
          UPDATE sink_floors SET floor_ms = greatest(floor_ms, ${floorMs}), told_at_ms = ${NOW_MS}
          WHERE life = ${storableText(life)} RETURNING told_at_ms AS now_ms
        `.execute(db);
        return rows[0]?.now_ms ?? 'unknown';
      }),
    leave: ({ life }) =>
      orUnavailable(async () => {
        await db.deleteFrom('sink_floors').where('life', '=', storableText(life)).execute();
      }),
    horizon: ({ epoch }) =>
      transaction(async (trx) => {
        await holdFence(trx, epoch);
        const before = await lockedHorizon(trx);
        await sql`DELETE FROM sink_floors WHERE told_at_ms < ${NOW_MS} - ${SINK_FLOOR_LEASE_MS}::bigint`.execute(
          trx,
        );
        const { rows } = await sql<{ lowest: number | null }>`
          SELECT min(floor_ms) AS lowest FROM sink_floors
        `.execute(trx);
        const after = Math.max(before, rows[0]?.lowest ?? before);
        if (after !== before) await putHorizon(trx, after);
        return after;
      }),
  };
}

async function join(
  trx: Transaction<Database>,
  { life, sinceMs }: Parameters<SinkFloors['join']>[0],
): Promise<number> {
  const horizonMs = await lockedHorizon(trx);
  const floorMs = sinceMs ?? (horizonMs || (await clockOf(trx)));
  if (floorMs < horizonMs) {
    await putHorizon(trx, floorMs);
    const rows = await trx.selectFrom('siem_destinations').select('destination_id').execute();
    for (const { destination_id: destinationId } of rows) {
      await moveOne(trx, { destinationId, event: { type: 'cursor.back', toMs: floorMs } });
    }
    await trx
      .updateTable('rule_cursors')
      .set({ received_ms: floorMs })
      .where('name', '=', FLEET_RULES_CURSOR)
      .where('received_ms', '>', floorMs)
      .execute();
  }
  await sql`
    INSERT INTO sink_floors (life, floor_ms, told_at_ms)
    VALUES (${storableText(life)}, ${floorMs}, ${NOW_MS})
    ON CONFLICT (life) DO UPDATE SET floor_ms = least(sink_floors.floor_ms, excluded.floor_ms),
      told_at_ms = excluded.told_at_ms
  `.execute(trx);
  return floorMs;
}

async function clockOf(trx: Transaction<Database>): Promise<number> {
  const { rows } = await sql<{ now_ms: number }>`SELECT ${NOW_MS} AS now_ms`.execute(trx);
  return rows[0]?.now_ms ?? 0;
}

async function lockedHorizon(trx: Transaction<Database>): Promise<number> {
  const { rows } = await sql<{ horizon_ms: number }>`
    SELECT horizon_ms FROM sink_horizon FOR UPDATE
  `.execute(trx);
  return rows[0]?.horizon_ms ?? 0;
}

async function putHorizon(trx: Transaction<Database>, horizonMs: number): Promise<void> {
  await sql`UPDATE sink_horizon SET horizon_ms = ${horizonMs}`.execute(trx);
}
