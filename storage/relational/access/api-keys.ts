// API keys by the hash of their secret. invariant: I11
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { API_KEYS_ENDED_KEPT_MAX, API_KEYS_PER_USER_MAX } from '../../../machines/limits.ts';
import type { ApiKeyRow, ApiKeys } from '../../ports/access/api-keys.ts';
import { auditOfKeyCreate, auditOfKeyRevoke } from '../../ports/audit/audit-entries.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import type { ApiKeysTable } from './tables.ts';
import { liveSession } from './user-rows.ts';

/** Makes the key store. */
export function createApiKeys(db: Kysely<Database>): ApiKeys {
  return {
    create: (input) => orUnavailable(() => db.transaction().execute((trx) => create(trx, input))),
    async findByHash(hash) {
      const row = await orUnavailable(() =>
        db.selectFrom('api_keys').selectAll().where('hash', '=', hash).executeTakeFirst(),
      );
      return row === undefined ? null : keyOf(row);
    },
    async get(keyId) {
      const row = await orUnavailable(() =>
        db
          .selectFrom('api_keys')
          .selectAll()
          .where('key_id', '=', storableText(keyId))
          .executeTakeFirst(),
      );
      return row === undefined ? null : keyOf(row);
    },
    async list({ userId, limit, before }) {
      let rows = db.selectFrom('api_keys').selectAll().orderBy('key_id', 'desc').limit(limit);
      if (userId !== undefined) rows = rows.where('user_id', '=', storableText(userId));
      if (before !== null) rows = rows.where('key_id', '<', storableText(before));
      return (await orUnavailable(() => rows.execute())).map(keyOf);
    },
    touch: (seen) => touch(db, seen),
    revoke: (input) => revoke(db, input),
  };
}

async function create(
  trx: Transaction<Database>,
  input: Parameters<ApiKeys['create']>[0],
): ReturnType<ApiKeys['create']> {
  const userId = input.userId === undefined || input.userId === null ? null : input.userId;
  const refused = userId === null ? null : await refuseMore(trx, storableText(userId), input);
  if (refused !== null) return refused;
  await trx
    .insertInto('api_keys')
    .values({
      key_id: input.keyId,
      hash: input.hash,
      name: storableText(input.name),
      scopes: JSON.stringify(input.scopes),
      created_at_ms: input.nowMs,
      expires_at_ms: input.expiresAtMs,
      user_id: userId,
      revoked_at_ms: null,
    })
    .execute();
  await appendAudit(trx, [auditOfKeyCreate(input)]);
  return 'created';
}

/** Why a person gets no further key. Its row is locked, so that two at once cannot pass the bound. */
async function refuseMore(
  trx: Transaction<Database>,
  userId: string,
  { nowMs, bySession: hash }: Pick<Parameters<ApiKeys['create']>[0], 'nowMs' | 'bySession'>,
): Promise<'too_many' | 'no_user' | 'no_session' | null> {
  const user = await trx
    .selectFrom('users')
    .select('user_id')
    .where('user_id', '=', userId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (user === undefined) return 'no_user';
  const isOpen = hash === undefined || (await liveSession(trx, { userId, hash, nowMs }));
  if (isOpen === undefined) return 'no_session';
  const isOver = sql<boolean>`(revoked_at_ms IS NOT NULL OR expires_at_ms <= ${nowMs})`;
  const { rows } = await sql<{ n: number }>`SELECT count(*)::int AS n FROM api_keys
    WHERE user_id = ${userId} AND NOT coalesce(${isOver}, false)`.execute(trx);
  if ((rows[0]?.n ?? 0) >= API_KEYS_PER_USER_MAX) return 'too_many';
  await sql`DELETE FROM api_keys WHERE key_id IN (
    SELECT key_id FROM api_keys WHERE user_id = ${userId} AND ${isOver}
    ORDER BY key_id DESC OFFSET ${API_KEYS_ENDED_KEPT_MAX})`.execute(trx);
  return null;
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

function revoke(
  db: Kysely<Database>,
  input: Parameters<ApiKeys['revoke']>[0],
): ReturnType<ApiKeys['revoke']> {
  const { userId } = input;
  return orUnavailable(() =>
    db.transaction().execute(async (trx) => {
      let which = trx
        .selectFrom('api_keys')
        .selectAll()
        .where('key_id', '=', storableText(input.keyId));
      if (userId !== undefined) which = which.where('user_id', '=', storableText(userId));
      const row = await which.forUpdate().executeTakeFirst();
      const isOpen = row?.revoked_at_ms === null;
      const result = row === undefined ? 'not_found' : isOpen ? 'ok' : 'unchanged';
      if (row !== undefined && isOpen)
        await trx
          .updateTable('api_keys')
          .set({ revoked_at_ms: input.nowMs })
          .where('key_id', '=', row.key_id)
          .execute();
      await appendAudit(trx, [auditOfKeyRevoke(input, result)]);
      if (row === undefined) return null;
      return keyOf({ ...row, revoked_at_ms: row.revoked_at_ms ?? input.nowMs });
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
