// Rows of people, and the locks under which they change. Whoever changes a person locks the person's row first and its
// sessions, links and codes after it, so that no two transactions wait for each other; the lock leaves room for rows that
// only point at the person.
import type { Kysely, Selectable, Transaction } from 'kysely';
import { emailKeyOf } from '../../../machines/console/access/account.rules.ts';
import type { UserRow } from '../../ports/access/users.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { Database } from '../plumbing/tables.ts';
import type { UsersTable } from './access-tables.ts';

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
