// API keys by the hash of their secret. invariant: I11
import { type Kysely, type Selectable, sql } from 'kysely';
import { auditOfKeyCreate, auditOfKeyRevoke } from '../ports/audit-entries.ts';
import type { ApiKeyRow, ApiKeys } from '../ports/relational.ts';
import { storableText } from '../ports/stored-text.ts';
import { appendAudit } from './audit-log.ts';
import type { ApiKeysTable, Database } from './tables.ts';
import { orUnavailable } from './unavailable.ts';

/** Makes the key store. */
export function createApiKeys(db: Kysely<Database>): ApiKeys {
  return {
    async create(input) {
      await orUnavailable(() =>
        db.transaction().execute(async (trx) => {
          await trx
            .insertInto('api_keys')
            .values({
              key_id: input.keyId,
              hash: input.hash,
              name: storableText(input.name),
              scopes: JSON.stringify(input.scopes),
              created_at_ms: input.nowMs,
              expires_at_ms: input.expiresAtMs,
              user_id: input.userId ?? null,
              revoked_at_ms: null,
            })
            .execute();
          await appendAudit(trx, [auditOfKeyCreate(input)]);
        }),
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
    touch: (seen) => touch(db, seen),
    revoke: (input) => revoke(db, input),
  };
}

async function touch(db: Kysely<Database>, seen: Parameters<ApiKeys['touch']>[0]): Promise<void> {
  if (seen.length === 0) return;
  const hashes = seen.map(({ hash }) => hash);
  const times = seen.map(({ atMs }) => atMs);
  await orUnavailable(() =>
    sql`UPDATE api_keys SET last_used_at_ms = greatest(last_used_at_ms, seen.at_ms)
      FROM unnest(${hashes}::bytea[], ${times}::bigint[]) AS seen (hash, at_ms)
      WHERE api_keys.hash = seen.hash`.execute(db),
  );
}

function revoke(db: Kysely<Database>, input: Parameters<ApiKeys['revoke']>[0]): Promise<boolean> {
  const keyId = storableText(input.keyId);
  return orUnavailable(() =>
    db.transaction().execute(async (trx) => {
      const changed = await trx
        .updateTable('api_keys')
        .set({ revoked_at_ms: input.nowMs })
        .where('key_id', '=', keyId)
        .where('revoked_at_ms', 'is', null)
        .returning('key_id')
        .executeTakeFirst();
      const known =
        changed ??
        (await trx
          .selectFrom('api_keys')
          .select('key_id')
          .where('key_id', '=', keyId)
          .executeTakeFirst());
      const result = changed !== undefined ? 'ok' : known === undefined ? 'not_found' : 'unchanged';
      await appendAudit(trx, [auditOfKeyRevoke(input, result)]);
      return known !== undefined;
    }),
  );
}

function keyOf(row: Selectable<ApiKeysTable>): ApiKeyRow {
  return {
    keyId: row.key_id,
    name: row.name,
    scopes: row.scopes,
    userId: row.user_id,
    createdAtMs: row.created_at_ms,
    lastUsedAtMs: row.last_used_at_ms,
    expiresAtMs: row.expires_at_ms,
    revokedAtMs: row.revoked_at_ms,
  };
}
