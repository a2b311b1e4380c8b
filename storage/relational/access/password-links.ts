// One-time links with which a person sets a password, found by the hash of their secret. invariant: I2, I11
import { type Kysely, sql, type Transaction } from 'kysely';
import type { PasswordLinks } from '../../ports/access/password-links.ts';
import { auditOfUser } from '../../ports/access/user-audit.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import { dropLinksOf, endKeysOf, endSessionsOf, isOfRole, lockUser, userOf } from './user-rows.ts';

/** Makes the store. */
export function createPasswordLinks(db: Kysely<Database>): PasswordLinks {
  return {
    createLink: (input) =>
      orUnavailable(() =>
        db.transaction().execute(async (trx) => {
          const row = await lockUser(trx, input.userId);
          if (row === undefined || !isOfRole(row, input.judgedRole)) return false;
          await dropLinksOf(trx, row.user_id);
          await trx
            .insertInto('user_links')
            .values({
              hash: input.hash,
              user_id: row.user_id,
              created_at_ms: input.nowMs,
              expires_at_ms: input.expiresAtMs,
              used_at_ms: null,
            })
            .execute();
          const after = { expires_at_ms: input.expiresAtMs };
          await appendAudit(trx, [
            auditOfUser(input, { action: 'user.reset_link', user: userOf(row), after }),
          ]);
          return true;
        }),
      ),
    useLink: (input) => orUnavailable(() => db.transaction().execute((trx) => use(trx, input))),
    async findLink(hash, nowMs) {
      const row = await orUnavailable(() =>
        db
          .selectFrom('users')
          .selectAll()
          .where('status', '=', 'active')
          .where('user_id', 'in', (link) =>
            link
              .selectFrom('user_links')
              .select('user_id')
              .where('hash', '=', hash)
              .where('used_at_ms', 'is', null)
              .where('expires_at_ms', '>', nowMs),
          )
          .executeTakeFirst(),
      );
      return row === undefined ? null : userOf(row);
    },
  };
}

async function use(
  trx: Transaction<Database>,
  input: Parameters<PasswordLinks['useLink']>[0],
): ReturnType<PasswordLinks['useLink']> {
  const { hash, nowMs } = input;
  const link = await trx
    .selectFrom('user_links')
    .select('user_id')
    .where('hash', '=', hash)
    .executeTakeFirst();
  const owner = link === undefined ? undefined : await lockUser(trx, link.user_id);
  if (owner?.status !== 'active') return null;
  // Judged under the lock of its owner: of two that come together the second finds it used.
  const used = await trx
    .updateTable('user_links')
    .set({ used_at_ms: nowMs })
    .where('hash', '=', hash)
    .where('used_at_ms', 'is', null)
    .where('expires_at_ms', '>', nowMs)
    .returning(sql<number>`1`.as('one'))
    .executeTakeFirst();
  if (used === undefined) return null;
  const row = await trx
    .updateTable('users')
    .set({
      password_hash: input.passwordHash,
      password_changed_at_ms: nowMs,
      must_change_password: false,
    })
    .where('user_id', '=', owner.user_id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const user = userOf(row);
  const ended = await endSessionsOf(trx, { userId: user.userId, nowMs });
  const keys = input.keepsKeys === true ? 0 : await endKeysOf(trx, { userId: user.userId, nowMs });
  const detail = { sessions_ended: ended, api_keys_revoked: keys };
  await appendAudit(trx, [auditOfUser(input, { action: 'user.reset', user, detail })]);
  return user;
}
