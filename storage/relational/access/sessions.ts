// Sessions in PostgreSQL, found by the SHA-256 of the cookie's value. Whoever begins a session holds its person's row, so
// that a new password or a new role, which hold it too, miss none. invariant: I11, I18
import { type Kysely, sql, type Transaction } from 'kysely';
import { SESSIONS_PER_USER_MAX } from '../../../machines/console/access/limits.ts';
import type { Role } from '../../../machines/trust/roles.rules.ts';
import { auditOfSessionEnd, auditOfSessionsEnd } from '../../ports/access/session-audit.ts';
import type { JudgedLogin, SessionStore } from '../../ports/access/sessions.ts';
import type { MfaState } from '../../ports/access/users.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import { addTurned, endSessionsOf, lockUser, sessionOf } from './user-rows.ts';

/** Makes the store. */
export function createSessions(db: Kysely<Database>): SessionStore {
  return {
    create: (row, judged) =>
      orUnavailable(() => db.transaction().execute((trx) => create(trx, row, judged))),
    async findByHash(hash) {
      const row = await orUnavailable(() =>
        db.selectFrom('sessions').selectAll().where('hash', '=', hash).executeTakeFirst(),
      );
      return row === undefined ? null : sessionOf(row);
    },
    rotate: (input) => orUnavailable(() => db.transaction().execute((trx) => rotate(trx, input))),
    async touch(seen) {
      const latest = new Map<string, { readonly hash: Buffer; readonly atMs: number }>();
      for (const one of seen) {
        const key = one.hash.toString('hex');
        if ((latest.get(key)?.atMs ?? -Infinity) < one.atMs) latest.set(key, one);
      }
      if (latest.size === 0) return;
      const hashes = [...latest.values()].map((one) => one.hash);
      const times = [...latest.values()].map((one) => one.atMs);
      await orUnavailable(() =>
        sql`UPDATE sessions SET last_seen_at_ms = seen.at
          FROM unnest(${hashes}::bytea[], ${times}::bigint[]) AS seen (hash, at)
          WHERE sessions.hash = seen.hash AND sessions.last_seen_at_ms < seen.at`.execute(db),
      );
    },
    async listOf(userId, nowMs) {
      const rows = await orUnavailable(() =>
        db
          .selectFrom('sessions')
          .selectAll()
          .where('user_id', '=', storableText(userId))
          .where('ended_at_ms', 'is', null)
          .where('expires_at_ms', '>', nowMs)
          .orderBy('created_at_ms', 'desc')
          .orderBy('session_id', 'desc')
          .execute(),
      );
      return rows.map(sessionOf);
    },
    end: (input) => end(db, input, { column: 'hash', value: input.hash }),
    endOf: (input) =>
      end(db, input, {
        ...{ column: 'session_id', value: storableText(input.sessionId) },
        userId: storableText(input.userId),
      }),
    endAllOf: (input) =>
      orUnavailable(() =>
        db.transaction().execute(async (trx) => {
          const user = await lockUser(trx, input.userId);
          if (user === undefined) return 0;
          const ended = await endSessionsOf(trx, input);
          await appendAudit(trx, [auditOfSessionsEnd(input, ended)]);
          return ended;
        }),
      ),
    async sweep(beforeMs) {
      const { numDeletedRows } = await orUnavailable(() =>
        db
          .deleteFrom('sessions')
          .where(
            sql<number>`LEAST(COALESCE(ended_at_ms, expires_at_ms), expires_at_ms)`,
            '<',
            beforeMs,
          )
          .executeTakeFirst(),
      );
      return Number(numDeletedRows);
    },
  };
}

async function create(
  trx: Transaction<Database>,
  row: Parameters<SessionStore['create']>[0],
  judged: Parameters<SessionStore['create']>[1],
): Promise<boolean> {
  // Alone, since whoever begins beside it would not see this one, and both would pass the bound.
  const user = await lockUser(trx, row.userId);
  if (user?.status !== 'active') return false;
  if (judged !== undefined && !isAsJudged(user, judged)) return false;
  await trx
    .insertInto('sessions')
    .values({
      hash: row.hash,
      session_id: row.sessionId,
      user_id: user.user_id,
      stage: row.stage,
      method: storableText(row.method),
      address: storableText(row.address),
      user_agent: storableText(row.userAgent),
      created_at_ms: row.createdAtMs,
      authenticated_at_ms: row.authenticatedAtMs,
      last_seen_at_ms: row.createdAtMs,
      expires_at_ms: row.expiresAtMs,
      ended_at_ms: null,
    })
    .execute();
  await sql`UPDATE sessions SET ended_at_ms = ${row.createdAtMs} WHERE hash IN (
    SELECT hash FROM sessions
    WHERE user_id = ${user.user_id} AND ended_at_ms IS NULL AND expires_at_ms > ${row.createdAtMs}
      AND hash <> ${row.hash}
    ORDER BY (stage = 'full') DESC, created_at_ms DESC, session_id DESC
    OFFSET ${SESSIONS_PER_USER_MAX - 1}
    FOR UPDATE)`.execute(trx);
  return true;
}

async function rotate(
  trx: Transaction<Database>,
  input: Parameters<SessionStore['rotate']>[0],
): ReturnType<SessionStore['rotate']> {
  const { from, nowMs } = input;
  const known = await trx
    .selectFrom('sessions')
    .select('user_id')
    .where('hash', '=', from)
    .executeTakeFirst();
  const user = known === undefined ? undefined : await shareUser(trx, known.user_id);
  if (user?.status !== 'active') return null;
  const old = await trx
    .updateTable('sessions')
    .set({ ended_at_ms: nowMs })
    .where('hash', '=', from)
    .where('ended_at_ms', 'is', null)
    .where('expires_at_ms', '>', nowMs)
    .returningAll()
    .executeTakeFirst();
  if (old === undefined) return null;
  return addTurned(trx, old, input);
}

/** Holds a person's row as it is, together with others who turn sessions. */
async function shareUser(trx: Transaction<Database>, userId: string) {
  return trx
    .selectFrom('users')
    .select('status')
    .where('user_id', '=', storableText(userId))
    .forShare()
    .executeTakeFirst();
}

function isAsJudged(
  user: {
    readonly password_hash: string | null;
    readonly role: Role;
    readonly mfa_state: MfaState;
  },
  { passwordHash, role, hasFactor }: JudgedLogin,
): boolean {
  const isPassword = passwordHash === undefined || passwordHash === user.password_hash;
  return isPassword && role === user.role && hasFactor === (user.mfa_state === 'on');
}

type One = {
  readonly column: 'hash' | 'session_id';
  readonly value: Buffer | string;
  readonly userId?: string;
};

function end(
  db: Kysely<Database>,
  input: Parameters<typeof auditOfSessionEnd>[0],
  one: One,
): Promise<boolean> {
  return orUnavailable(() =>
    db.transaction().execute(async (trx) => {
      const live = trx
        .updateTable('sessions')
        .set({ ended_at_ms: input.nowMs })
        .where(one.column, '=', one.value)
        .where('ended_at_ms', 'is', null);
      const ending = one.userId === undefined ? live : live.where('user_id', '=', one.userId);
      const row = await ending.returningAll().executeTakeFirst();
      if (row === undefined) return false;
      await appendAudit(trx, [auditOfSessionEnd(input, sessionOf(row))]);
      return true;
    }),
  );
}
