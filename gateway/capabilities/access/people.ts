// People joined together: accounts, passwords, sessions and logins. decision: D37
import { createLoginService } from '../../../actors/access/login.ts';
import { evidenceOfSession } from '../../../actors/access/login-evidence.ts';
import { createPasswordService } from '../../../actors/access/own-password.ts';
import type { Passwords } from '../../../actors/access/passwords.ts';
import type { People } from '../../../actors/access/people.ts';
import { createSessionService } from '../../../actors/access/sessions.ts';
import { createUserService } from '../../../actors/access/users.ts';
import type { SettingsService } from '../../../actors/settings/settings-service.ts';
import type { Chance } from '../../../actors/trust/chance.ts';
import { needOfLogin } from '../../../machines/console/access/second-factor.rules.ts';
import type { ApiKeys } from '../../../storage/ports/access/api-keys.ts';
import type { PeopleStores } from '../../../storage/ports/access/stores.ts';
import type { AuditLog } from '../../../storage/ports/audit/audit-log.ts';
import { addressKey } from '../../access/rate-budget.ts';

export type PeopleInput = {
  readonly stores: PeopleStores & {
    readonly apiKeys: Pick<ApiKeys, 'list'>;
    readonly audit: Pick<AuditLog, 'append' | 'search'>;
  };
  readonly passwords: Passwords;
  readonly settings: Pick<SettingsService, 'get' | 'intervals'>;
  readonly now: () => number;
  readonly chance: Chance;
};

/** Builds the desks; nothing runs before they are asked. */
export function openPeople(input: PeopleInput): People {
  const { stores, passwords, settings, now, chance } = input;
  const { users, userPasswords, passwordLinks, loginFailures, audit, apiKeys } = stores;
  const sessions = createSessionService({
    ...{ sessions: stores.sessions, now, chance },
    idleMs: () => settings.intervals.SESSION_IDLE_MS,
    lifetimeMs: () => settings.intervals.SESSION_ABSOLUTE_MS,
  });
  const needOf: People['needOf'] = (user, { method, stage }) => {
    const { mfaRequiredRoles: requiredRoles } = settings.get();
    const { role, mustChangePassword, mfa } = user;
    const { state } = mfa;
    return needOfLogin({ method, stage, state, role, requiredRoles, mustChangePassword });
  };
  const login = createLoginService({
    ...{
      users,
      userPasswords,
      loginFailures,
      sessions,
      passwords,
      audit,
      needOf,
      siteOf: addressKey,
      now,
    },
  });
  return {
    users,
    service: createUserService({ users, passwordLinks, now, chance }),
    sessions,
    login,
    passwords: createPasswordService({
      ...{ users, userPasswords, passwordLinks, loginFailures },
      ...{ needOf, apiKeys, sessions, login, passwords, audit, now },
    }),
    async beforeLogin(userId, sessionId) {
      const user = await users.get(userId);
      return user === null ? null : evidenceOfSession(audit, user, sessionId);
    },
    needOf,
  };
}
