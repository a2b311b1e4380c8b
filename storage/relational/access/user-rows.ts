// Rows of people, and the locks under which they change. Whoever changes a person locks the person's row first and its
// sessions, links and codes after it, so that no two transactions wait for each other; the lock leaves room for rows that
// only point at the person.
import type { Kysely, Selectable, Transaction } from 'kysely';
import { emailKeyOf } from '../../../machines/console/access/account.rules.ts';
import type { Role } from '../../../machines/trust/roles.rules.ts';
import type { SessionRow, SessionTurn } from '../../ports/access/sessions.ts';
import type { UserRow } from '../../ports/access/users.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { Database } from '../plumbing/tables.ts';
import type { UsersTable } from './tables.ts';

type On = Kysely<Database> | Transaction<Database>;

/** A row as the port tells it. */
export function userOf(row: Selectable<UsersTable>): UserRow {
  return {
    userId: row.user_id,
    email: row.email,
    displayName: row.display_name,
    role: row.role,
    status: row.status,
    tags: row.tags,
    passwordHash: row.password_hash,
    passwordChangedAtMs: row.password_changed_at_ms,
    mustChangePassword: row.must_change_password,
    createdAtMs: row.created_at_ms,
    lastLoginAtMs: row.last_login_at_ms,
    mfa: {
      state: row.mfa_state,
      sealedSecret: row.mfa_secret_sealed,
      lastStep: row.mfa_last_step,
      changedAtMs: row.mfa_changed_at_ms,
    },
    revision: row.revision,
  };
}

/** The key an e-mail address is stored and found by. */
export function storedEmailKey(email: string): string {
  return emailKeyOf(storableText(email));
}

/** Locks a person against every other change. */
export async function lockUser(trx: Transaction<Database>, userId: string) {
  return trx
    .selectFrom('users')
    .selectAll()
    .where('user_id', '=', storableText(userId))
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** Locks a person and every active admin in one order, so that two of them cannot both go as the last but one. */
export async function lockWithAdmins(trx: Transaction<Database>, userId: string) {
  const rows = await trx
    .selectFrom('users')
    .selectAll()
    .where((is) =>
      is.or([
        is('user_id', '=', storableText(userId)),
        is.and([is('role', '=', 'admin'), is('status', '=', 'active')]),
      ]),
    )
    .orderBy('user_id')
    .forNoKeyUpdate()
    .execute();
  const user = rows.find((row) => row.user_id === storableText(userId));
  const isLastAdmin =
    user?.role === 'admin' &&
    user.status === 'active' &&
    !rows.some((row) => row !== user && row.role === 'admin' && row.status === 'active');
  return { user, isLastAdmin };
}

/** The session of a locked person, when it lives as far as the clock and its end say. */
export async function liveSession(
  trx: Transaction<Database>,
  {
    userId,
    hash,
    nowMs,
  }: { readonly userId: string; readonly hash: Buffer; readonly nowMs: number },
): Promise<Selectable<Database['sessions']> | undefined> {
  return trx
    .selectFrom('sessions')
    .selectAll()
    .where('hash', '=', hash)
    .where('user_id', '=', storableText(userId))
    .where('ended_at_ms', 'is', null)
    .where('expires_at_ms', '>', nowMs)
    .forUpdate()
    .executeTakeFirst();
}

/** Begins what follows an older session; the older one is left to the caller. */
export async function addTurned(
  trx: Transaction<Database>,
  old: Selectable<Database['sessions']>,
  turn: SessionTurn,
): Promise<SessionRow> {
  const row = await trx
    .insertInto('sessions')
    .values({
      ...old,
      hash: turn.to,
      session_id: turn.sessionId,
      stage: turn.stage,
      created_at_ms: turn.nowMs,
      authenticated_at_ms: turn.authenticatedAtMs ?? old.authenticated_at_ms,
      last_seen_at_ms: turn.nowMs,
      expires_at_ms: turn.expiresAtMs,
      ended_at_ms: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return sessionOf(row);
}

/** A session as the port tells it. */
export function sessionOf(row: Selectable<Database['sessions']>): SessionRow {
  return {
    hash: row.hash,
    sessionId: row.session_id,
    userId: row.user_id,
    stage: row.stage,
    method: row.method,
    address: row.address,
    userAgent: row.user_agent,
    createdAtMs: row.created_at_ms,
    authenticatedAtMs: row.authenticated_at_ms,
    lastSeenAtMs: row.last_seen_at_ms,
    expiresAtMs: row.expires_at_ms,
    endedAtMs: row.ended_at_ms,
  };
}

/** Ends every link of a locked person. */
export async function dropLinksOf(trx: Transaction<Database>, userId: string): Promise<void> {
  await trx.deleteFrom('user_links').where('user_id', '=', storableText(userId)).execute();
}

/** Whether a locked person still has the role that was judged; also when none was. */
export function isOfRole({ role }: Pick<UserRow, 'role'>, judged: Role | undefined): boolean {
  return judged === undefined || judged === role;
}

/** Ends the live sessions of a person but one; how many. */
export async function endSessionsOf(
  on: On,
  input: { readonly userId: string; readonly nowMs: number; readonly keep?: Buffer | null },
): Promise<number> {
  const { userId, nowMs, keep = null } = input;
  const live = on
    .updateTable('sessions')
    .set({ ended_at_ms: nowMs })
    .where('user_id', '=', storableText(userId))
    .where('ended_at_ms', 'is', null);
  const ending = keep === null ? live : live.where('hash', '<>', keep);
  return Number((await ending.executeTakeFirst()).numUpdatedRows);
}

/** Ends the keys of a locked person that are not revoked yet; how many. */
export async function endKeysOf(
  trx: Transaction<Database>,
  { userId, nowMs }: { readonly userId: string; readonly nowMs: number },
): Promise<number> {
  const { numUpdatedRows } = await trx
    .updateTable('api_keys')
    .set({ revoked_at_ms: nowMs })
    .where('user_id', '=', userId)
    .where('revoked_at_ms', 'is', null)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Ends all that was set up on a locked person to get in with, but for the ties to providers. */
export async function endCredentialsOf(
  trx: Transaction<Database>,
  { userId, nowMs }: { readonly userId: string; readonly nowMs: number },
): Promise<{ readonly user: UserRow; readonly keys: number }> {
  const row = await trx
    .updateTable('users')
    .set({
      ...{ password_hash: null, password_changed_at_ms: null, must_change_password: false },
      ...{ mfa_state: 'off', mfa_secret_sealed: null, mfa_last_step: 0, mfa_changed_at_ms: null },
    })
    .where('user_id', '=', userId)
    .returningAll()
    .executeTakeFirstOrThrow();
  await trx.deleteFrom('user_recovery_codes').where('user_id', '=', userId).execute();
  await trx.deleteFrom('security_keys').where('user_id', '=', userId).execute();
  return { user: userOf(row), keys: await endKeysOf(trx, { userId, nowMs }) };
}
