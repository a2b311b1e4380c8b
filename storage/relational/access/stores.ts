// The stores of operator access in PostgreSQL.
import type { AccessStores } from '../../ports/access/stores.ts';
import type { RelationalContext } from '../plumbing/context.ts';
import { createApiKeys } from './api-keys.ts';
import { createLoginFailures } from './login-failures.ts';
import { createPasswordLinks } from './password-links.ts';
import { createRecoveryCodes, createSecondFactors } from './second-factors.ts';
import { createSecurityKeys } from './security-keys.ts';
import { createSessions } from './sessions.ts';
import { createSsoStore } from './sso-store.ts';
import { createUserPasswords } from './user-passwords.ts';
import { createUsers } from './users.ts';

/** Opens every store of this capability. */
export function openAccessStores({ db }: RelationalContext): AccessStores {
  return {
    users: createUsers(db),
    userPasswords: createUserPasswords(db),
    passwordLinks: createPasswordLinks(db),
    secondFactors: createSecondFactors(db),
    recoveryCodes: createRecoveryCodes(db),
    securityKeys: createSecurityKeys(db),
    loginFailures: createLoginFailures(db),
    sessions: createSessions(db),
    apiKeys: createApiKeys(db),
    sso: createSsoStore(db),
  };
}
