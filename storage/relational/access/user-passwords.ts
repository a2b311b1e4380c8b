// Passwords as their hashes.
import type { Kysely } from 'kysely';
import { auditOfUser } from '../../ports/access/user-audit.ts';
import type { PasswordStore } from '../../ports/access/user-passwords.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import {
  addTurned,
  dropLinksOf,
  endSessionsOf,
  liveSession,
  lockUser,
  userOf,
} from './user-rows.ts';

/** Makes the store. */
export function createUserPasswords(db: Kysely<Database>): PasswordStore {
  return {
    setPassword: (input) =>
      orUnavailable(() =>
        db.transaction().execute(async (trx) => {
          const { userId, nowMs, turn } = input;
          const row = await lockUser(trx, userId);
          // Judged under the lock, so that a reset that came first is neither missed nor undone.
          if (row === undefined || row.password_hash !== input.replaces) return null;
          const old = await liveSession(trx, { userId, hash: turn.from, nowMs });
          if (old === undefined) return null;
          await trx
            .updateTable('users')
            .set({
              password_hash: input.passwordHash,
              password_changed_at_ms: nowMs,
              must_change_password: false,
            })
            .where('user_id', '=', row.user_id)
            .execute();
          await dropLinksOf(trx, row.user_id);
          const ended = await endSessionsOf(trx, { userId, nowMs });
          const turned = await addTurned(trx, old, turn);
          const detail = { sessions_ended: ended };
          const user = userOf(row);
          await appendAudit(trx, [auditOfUser(input, { action: 'user.password', user, detail })]);
          return turned;
        }),
      ),
    async rehash({ userId, replaces, passwordHash }) {
      await orUnavailable(() =>
        db
          .updateTable('users')
          .set({ password_hash: passwordHash })
          .where('user_id', '=', storableText(userId))
          .where('password_hash', '=', replaces)
          .execute(),
      );
    },
  };
}
