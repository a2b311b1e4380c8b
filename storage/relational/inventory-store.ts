// The latest inventory sections, each replaced whole.
import type { Kysely } from 'kysely';
import type { InventoryStore } from '../ports/relational.ts';
import { storableText } from '../ports/stored-text.ts';
import type { Database } from './tables.ts';
import { orUnavailable } from './unavailable.ts';

/** Makes the inventory store. */
export function createInventoryStore(db: Kysely<Database>): InventoryStore {
  return {
    async loadHashes() {
      const rows = await orUnavailable(() =>
        db.selectFrom('inventory_sections').select(['sensor_id', 'section', 'hash']).execute(),
      );
      return rows.map((row) => ({
        sensorId: row.sensor_id,
        section: row.section,
        hash: row.hash,
      }));
    },
    async get(sensorId, section) {
      const row = await orUnavailable(() =>
        db
          .selectFrom('inventory_sections')
          .select(['hash', 'items', 'stored_at_ms'])
          .where('sensor_id', '=', storableText(sensorId))
          .where('section', '=', section)
          .executeTakeFirst(),
      );
      if (row === undefined) return null;
      return { hash: row.hash, items: row.items, storedAtMs: row.stored_at_ms };
    },
    async put(input) {
      const content = {
        hash: input.hash,
        items: JSON.stringify(input.items),
        stored_at_ms: input.nowMs,
      };
      await orUnavailable(() =>
        db
          .insertInto('inventory_sections')
          .values({ sensor_id: input.sensorId, section: input.section, ...content })
          .onConflict((conflict) => conflict.columns(['sensor_id', 'section']).doUpdateSet(content))
          .execute(),
      );
    },
  };
}
