// Accounts in PostgreSQL, each change with its audit row in one transaction. invariant: I18
import type { Kysely, Transaction } from 'kysely';
import {
  endsSessions,
  givesMore,
  takesAdmin,
} from '../../../machines/console/access/account.rules.ts';
import {
  auditOfUser,
  auditOfUserChange,
  auditOfUserCreate,
  auditOfUserRemove,
} from '../../ports/access/user-audit.ts';
import type { UserRow, UserStore } from '../../ports/access/users.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import {
  dropLinksOf,
  endCredentialsOf,
  endSessionsOf,
  isOfRole,
  lockWithAdmins,
  storedEmailKey,
  userOf,
} from './user-rows.ts';

/** Makes the store. */
export function createUsers(db: Kysely<Database>): UserStore {
  const find = (column: 'user_id' | 'email_key', value: string): Promise<UserRow | null> =>
    orUnavailable(async () => {
      const row = await db
        .selectFrom('users')
        .selectAll()
        .where(column, '=', value)
        .executeTakeFirst();
      return row === undefined ? null : userOf(row);
    });
  return {
    create: (input) => create(db, input),
    get: (userId) => find('user_id', storableText(userId)),
    findByEmail: (email) => find('email_key', storedEmailKey(email)),
    async list({ limit, after }) {
      const all = db.selectFrom('users').selectAll().orderBy('email_key').limit(limit);
      const page = after === null ? all : all.where('email_key', '>', storableText(after));
      return (await orUnavailable(() => page.execute())).map(userOf);
    },
    change: (input) => orUnavailable(() => db.transaction().execute((trx) => change(trx, input))),
    remove: (input) => orUnavailable(() => db.transaction().execute((trx) => remove(trx, input))),
    async noteLogin(input) {
      await orUnavailable(() =>
        db.transaction().execute(async (trx) => {
          const row = await trx
            .updateTable('users')
            .set({ last_login_at_ms: input.nowMs })
            .where('user_id', '=', storableText(input.userId))
            .returningAll()
            .executeTakeFirst();
          if (row === undefined) return;
          const detail = { method: input.method, session: input.session };
          await appendAudit(trx, [
            auditOfUser(input, { action: 'user.login', user: userOf(row), detail }),
          ]);
        }),
      );
    },
  };
}

function create(
  db: Kysely<Database>,
  input: Parameters<UserStore['create']>[0],
): ReturnType<UserStore['create']> {
  return orUnavailable(() =>
    db.transaction().execute(async (trx) => {
      const made = await trx
        .insertInto('users')
        .values({
          user_id: input.userId,
          email: storableText(input.email),
          email_key: storedEmailKey(input.email),
          display_name: storableText(input.displayName),
          role: input.role,
          status: 'active',
          tags: '[]',
          password_hash: input.passwordHash,
          password_changed_at_ms: input.passwordHash === null ? null : input.nowMs,
          must_change_password: input.mustChangePassword ?? false,
          created_at_ms: input.nowMs,
          last_login_at_ms: null,
          mfa_state: 'off',
          mfa_secret_sealed: null,
          mfa_last_step: 0,
          mfa_changed_at_ms: null,
          revision: 1,
        })
        .onConflict((on) => on.column('email_key').doNothing())
        .returning('user_id')
        .executeTakeFirst();
      await appendAudit(trx, [auditOfUserCreate(input, made === undefined ? 'email_taken' : 'ok')]);
      return made === undefined ? 'email_taken' : 'created';
    }),
  );
}

async function change(
  trx: Transaction<Database>,
  input: Parameters<UserStore['change']>[0],
): ReturnType<UserStore['change']> {
  const { userId, patch } = input;
  const { user, isLastAdmin } = await lockWithAdmins(trx, userId);
  const before = user === undefined ? null : userOf(user);
  const reason =
    before === null
      ? 'not_found'
      : before.revision !== input.revision || !isOfRole(before, input.judgedRole)
        ? 'conflict'
        : isLastAdmin && takesAdmin(patch)
          ? 'last_admin'
          : null;
  if (before === null || reason !== null) {
    const result = reason ?? 'not_found';
    await appendAudit(trx, [
      auditOfUser(input, { action: 'user.change', user: before ?? userId, result }),
    ]);
    return result;
  }
  const row = await trx
    .updateTable('users')
    .set({
      display_name: storableText(patch.displayName ?? before.displayName),
      role: patch.role ?? before.role,
      status: patch.status ?? before.status,
      tags: JSON.stringify(patch.tags ?? before.tags),
      revision: before.revision + 1,
    })
    .where('user_id', '=', before.userId)
    .returningAll()
    .executeTakeFirstOrThrow();
  const changed = userOf(row);
  const { nowMs } = input;
  if (!endsSessions(before, changed)) {
    await appendAudit(trx, [auditOfUserChange(input, before, changed)]);
    return changed;
  }
  const ended = await endSessionsOf(trx, { userId, nowMs });
  await dropLinksOf(trx, userId);
  const isMore = givesMore(before.role, changed.role);
  const { user: after, keys } = isMore
    ? await endCredentialsOf(trx, { userId: before.userId, nowMs })
    : { user: changed, keys: null };
  const detail = { sessions: ended, keys };
  await appendAudit(trx, [auditOfUserChange(input, before, after, detail)]);
  return after;
}

async function remove(
  trx: Transaction<Database>,
  input: Parameters<UserStore['remove']>[0],
): ReturnType<UserStore['remove']> {
  const { user, isLastAdmin } = await lockWithAdmins(trx, input.userId);
  const isOther = user !== undefined && !isOfRole(user, input.judgedRole);
  const refused = isOther ? 'conflict' : isLastAdmin ? 'last_admin' : 'ok';
  const result = user === undefined ? 'not_found' : refused;
  const before = user === undefined ? null : userOf(user);
  await appendAudit(trx, [auditOfUserRemove(input, before, result)]);
  if (result === 'ok') {
    await trx.deleteFrom('users').where('user_id', '=', storableText(input.userId)).execute();
  }
  return result;
}
