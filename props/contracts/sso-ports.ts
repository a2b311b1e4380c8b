// The store of identity providers on a real database, with few flows, and users for it to tie subjects to.
import { randomUUID } from 'node:crypto';
import { createSsoStore } from '../../storage/relational/access/sso-store.ts';
import type { Relational } from '../../storage/relational/relational.ts';
import { NOW_MS } from './samples.ts';
import { CONTRACT_FLOWS_MAX } from './sso-store.contract.ts';

/** What the contract is run with. */
export function ssoPortsOn({ db, audit }: Pick<Relational, 'db' | 'audit'>) {
  return {
    sso: createSsoStore(db, CONTRACT_FLOWS_MAX),
    audit,
    async newUser(): Promise<string> {
      const userId = randomUUID();
      await db
        .insertInto('users')
        .values({
          user_id: userId,
          email: `${userId}@example.org`,
          email_key: `${userId}@example.org`,
          display_name: 'Somebody',
          role: 'viewer',
          status: 'active',
          tags: '[]',
          password_hash: null,
          password_changed_at_ms: null,
          must_change_password: false,
          created_at_ms: NOW_MS,
          last_login_at_ms: null,
          mfa_state: 'off',
          mfa_secret_sealed: null,
          mfa_last_step: 0,
          mfa_changed_at_ms: null,
          revision: 1,
        })
        .execute();
      return userId;
    },
  };
}
