// The latest inventory sections, each replaced whole.
import type { Kysely } from 'kysely';
import type { InventorySectionName } from '../../../machines/wire/inventory.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { InventoryStore, StoredHash } from '../../ports/telemetry/inventory-store.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';

/** Makes the inventory store. */
export function createInventoryStore(db: Kysely<Database>): InventoryStore {
  const hashes = db.selectFrom('inventory_sections').select(['sensor_id', 'section', 'hash']);
  return {
    loadHashes: async () => (await orUnavailable(() => hashes.execute())).map(hashOf),
    async hashesOf(sensorIds) {
      const ids = sensorIds.map(storableText);
      if (ids.length === 0) return [];
      const asked = hashes.where('sensor_id', 'in', ids);
      return (await orUnavailable(() => asked.execute())).map(hashOf);
    },
    async get(sensorId, section) {
      const row = await orUnavailable(() =>
        db
          .selectFrom('inventory_sections')
          .select(['hash', 'items', 'node_total', 'stored_at_ms'])
          .where('sensor_id', '=', storableText(sensorId))
          .where('section', '=', section)
          .executeTakeFirst(),
      );
      if (row === undefined) return null;
      const { hash, items, node_total: nodeTotal, stored_at_ms: storedAtMs } = row;
      return { hash, items, nodeTotal, storedAtMs };
    },
    async put(input) {
      const content = {
        hash: input.hash,
        items: JSON.stringify(input.items),
        node_total: input.nodeTotal ?? null,
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

function hashOf(row: {
  readonly sensor_id: string;
  readonly section: InventorySectionName;
  readonly hash: string;
}): StoredHash {
  return { sensorId: row.sensor_id, section: row.section, hash: row.hash };
}
