// Rollouts in PostgreSQL: looks at stored facts, and the transitions, which are written with the commit that makes them.
// decision: D90, D91
import { type Kysely, sql, type Transaction } from 'kysely';
import { sightOf } from '../../../machines/console/policy/sensor-sight.rules.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { RolloutMove, RolloutStore } from '../../ports/policy/rollout-store.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';

/** Makes the store. */
export function createRolloutStore(db: Kysely<Database>): RolloutStore {
  return {
    async look(sensorIds) {
      if (sensorIds.length === 0) return [];
      const rows = await orUnavailable(() =>
        db
          .selectFrom('sensors')
          // Whole: text that no database can read escapes of would end a look into one field, for every sensor.
          .select(['sensor_id', 'last_heartbeat_at_ms', 'facts'])
          .where(sql<boolean>`sensor_id = ANY(${sensorIds.map(storableText)}::text[])`)
          .where('revoked_at_ms', 'is', null)
          .execute(),
      );
      return rows.map((row) => sightOf(row.sensor_id, row.last_heartbeat_at_ms, row.facts));
    },
    async moves({ rolloutId, limit, before }) {
      let page = db
        .selectFrom('rollout_transitions')
        .selectAll()
        .where('rollout_id', '=', storableText(rolloutId))
        .orderBy('sequence', 'desc')
        .limit(limit);
      if (before !== null) page = page.where('sequence', '<', before);
      const rows = await orUnavailable(() => page.execute());
      return rows.map((row) => ({
        ...{ rolloutId: row.rollout_id, sequence: row.sequence, atMs: row.at_ms },
        ...{ event: row.event, actor: row.actor },
        from: row.from_state as RolloutMove['from'],
        to: row.to_state as RolloutMove['to'],
        tally: row.tally as RolloutMove['tally'],
        context: row.context as RolloutMove['context'],
      }));
    },
  };
}

/** Writes transitions within the commit that makes them; one that is there already ends it. */
export async function insertMoves(
  trx: Transaction<Database>,
  moves: readonly RolloutMove[],
): Promise<void> {
  if (moves.length === 0) return;
  await trx
    .insertInto('rollout_transitions')
    .values(
      moves.map((move) => ({
        ...{ rollout_id: move.rolloutId, sequence: move.sequence, at_ms: move.atMs },
        ...{ event: move.event, from_state: move.from, to_state: move.to },
        actor: storableText(move.actor),
        tally: move.tally === null ? null : JSON.stringify(move.tally),
        context: JSON.stringify(move.context),
      })),
    )
    .execute();
}
