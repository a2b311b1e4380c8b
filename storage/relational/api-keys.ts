// API keys by the hash of their secret. invariant: I11
import type { Kysely, Selectable } from 'kysely';
import type { ApiKeyRow, ApiKeys } from '../ports/relational.ts';
import { storableText } from '../ports/stored-text.ts';
import type { ApiKeysTable, Database } from './tables.ts';
import { orUnavailable } from './unavailable.ts';

/** Makes the key store. */
export function createApiKeys(db: Kysely<Database>): ApiKeys {
  return {
    async create(input) {
      await orUnavailable(() =>
        db
          .insertInto('api_keys')
          .values({
            key_id: input.keyId,
            hash: input.hash,
            name: storableText(input.name),
            scopes: JSON.stringify(input.scopes),
            created_at_ms: input.nowMs,
            expires_at_ms: input.expiresAtMs,
            revoked_at_ms: null,
          })
          .execute(),
      );
    },
    async findByHash(hash) {
      const row = await orUnavailable(() =>
        db.selectFrom('api_keys').selectAll().where('hash', '=', hash).executeTakeFirst(),
      );
      return row === undefined ? null : keyOf(row);
    },
    async list() {
      const rows = await orUnavailable(() =>
        db.selectFrom('api_keys').selectAll().orderBy('key_id', 'desc').execute(),
      );
      return rows.map(keyOf);
    },
    async revoke(input) {
      const row = await orUnavailable(() =>
        db
          .updateTable('api_keys')
          .set((eb) => ({ revoked_at_ms: eb.fn.coalesce('revoked_at_ms', eb.val(input.nowMs)) }))
          .where('key_id', '=', storableText(input.keyId))
          .returning('key_id')
          .executeTakeFirst(),
      );
      return row !== undefined;
    },
  };
}

function keyOf(row: Selectable<ApiKeysTable>): ApiKeyRow {
  return {
    keyId: row.key_id,
    name: row.name,
    scopes: row.scopes,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
    revokedAtMs: row.revoked_at_ms,
  };
}
