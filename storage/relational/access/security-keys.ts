// Security keys and challenges in PostgreSQL. Whoever adds or removes a key holds its person's row. invariant: I11, I18
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { SECURITY_KEYS_PER_USER_MAX } from '../../../machines/console/access/limits.ts';
import type { SecurityKeyRow, SecurityKeyStore } from '../../ports/access/security-keys.ts';
import { auditOfKey } from '../../ports/access/user-audit.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import { liveSession, lockUser, userOf } from './user-rows.ts';

/** Makes the store. */
export function createSecurityKeys(db: Kysely<Database>): SecurityKeyStore {
  return {
    async listOf(userId) {
      const rows = await orUnavailable(() =>
        db
          .selectFrom('security_keys')
          .selectAll()
          .where('user_id', '=', storableText(userId))
          .orderBy('made_at_ms')
          .orderBy('key_id')
          .execute(),
      );
      return rows.map(keyOf);
    },
    putChallenge: (input) => orUnavailable(() => putChallenge(db, input)),
    async takeChallenge({ session, purpose, nowMs }) {
      const row = await orUnavailable(() =>
        db
          .deleteFrom('security_key_challenges')
          .where('session_hash', '=', session)
          .where('purpose', '=', purpose)
          .returning(['challenge', 'expires_at_ms'])
          .executeTakeFirst(),
      );
      return row === undefined || row.expires_at_ms <= nowMs ? null : row.challenge;
    },
    add: (input) => orUnavailable(() => db.transaction().execute((trx) => add(trx, input))),
    async use({ userId, keyId, counter, nowMs }) {
      const { numUpdatedRows } = await orUnavailable(() =>
        db
          .updateTable('security_keys')
          .set({ counter, used_at_ms: nowMs })
          .where('key_id', '=', storableText(keyId))
          .where('user_id', '=', storableText(userId))
          .where('counter', counter === 0 ? '=' : '<', counter)
          .where((is) =>
            is.exists(
              is
                .selectFrom('users')
                .select('users.user_id')
                .whereRef('users.user_id', '=', 'security_keys.user_id')
                .where('users.mfa_state', '=', 'on'),
            ),
          )
          .executeTakeFirst(),
      );
      return numUpdatedRows === 1n;
    },
    remove: (input) => orUnavailable(() => db.transaction().execute((trx) => remove(trx, input))),
  };
}

async function putChallenge(
  db: Kysely<Database>,
  {
    session,
    purpose,
    challenge,
    expiresAtMs,
    nowMs,
  }: Parameters<SecurityKeyStore['putChallenge']>[0],
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    INSERT INTO security_key_challenges (session_hash, purpose, challenge, expires_at_ms)
    SELECT hash, ${purpose}, ${challenge}, ${expiresAtMs}::bigint FROM sessions
    WHERE hash = ${session} AND ended_at_ms IS NULL AND expires_at_ms > ${nowMs}
    ON CONFLICT (session_hash, purpose)
    DO UPDATE SET challenge = EXCLUDED.challenge, expires_at_ms = EXCLUDED.expires_at_ms`.execute(
    db,
  );
  return numAffectedRows === 1n;
}

async function add(
  trx: Transaction<Database>,
  input: Parameters<SecurityKeyStore['add']>[0],
): ReturnType<SecurityKeyStore['add']> {
  const { userId, bySession: hash, nowMs, key } = input;
  const row = await lockUser(trx, userId);
  if (row?.mfa_state !== 'on') return 'no_factor';
  if ((await liveSession(trx, { userId, hash, nowMs })) === undefined) return 'no_session';
  const { count } = await trx
    .selectFrom('security_keys')
    .select((of) => of.fn.countAll<number>().as('count'))
    .where('user_id', '=', row.user_id)
    .executeTakeFirstOrThrow();
  if (count >= SECURITY_KEYS_PER_USER_MAX) return 'too_many';
  const made = await trx
    .insertInto('security_keys')
    .values({
      ...{ key_id: key.keyId, user_id: row.user_id, credential_id: key.credentialId },
      ...{ public_key: key.publicKey, counter: key.counter, name: storableText(key.name) },
      ...{ transports: key.transports.join(' '), made_at_ms: nowMs, used_at_ms: null },
    })
    .onConflict((on) => on.column('credential_id').doNothing())
    .executeTakeFirst();
  if (made.numInsertedOrUpdatedRows !== 1n) return 'known';
  await appendAudit(trx, [auditOfKey(input, { action: 'mfa.key_add', user: userOf(row), key })]);
  return 'added';
}

async function remove(
  trx: Transaction<Database>,
  input: Parameters<SecurityKeyStore['remove']>[0],
): Promise<boolean> {
  const { userId, keyId, bySession: hash, nowMs } = input;
  const row = await lockUser(trx, userId);
  if (row === undefined) return false;
  if ((await liveSession(trx, { userId, hash, nowMs })) === undefined) return false;
  const gone = await trx
    .deleteFrom('security_keys')
    .where('key_id', '=', storableText(keyId))
    .where('user_id', '=', row.user_id)
    .returningAll()
    .executeTakeFirst();
  if (gone === undefined) return false;
  const key = keyOf(gone);
  await appendAudit(trx, [auditOfKey(input, { action: 'mfa.key_remove', user: userOf(row), key })]);
  return true;
}

function keyOf(row: Selectable<Database['security_keys']>): SecurityKeyRow {
  return {
    keyId: row.key_id,
    userId: row.user_id,
    credentialId: row.credential_id,
    publicKey: row.public_key,
    counter: row.counter,
    name: row.name,
    transports: row.transports === '' ? [] : row.transports.split(' '),
    madeAtMs: row.made_at_ms,
    usedAtMs: row.used_at_ms,
  };
}
