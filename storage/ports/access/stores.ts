// What is kept of people and of those who act for them.
import type { ApiKeys } from './api-keys.ts';
import type { LoginFailureStore } from './login-failures.ts';
import type { PasswordLinks } from './password-links.ts';
import type { RecoveryCodes, SecondFactorStore } from './second-factors.ts';
import type { SecurityKeyStore } from './security-keys.ts';
import type { SessionStore } from './sessions.ts';
import type { SsoStore } from './sso-store.ts';
import type { PasswordStore } from './user-passwords.ts';
import type { UserStore } from './users.ts';

export type PeopleStores = {
  readonly users: UserStore;
  readonly userPasswords: PasswordStore;
  readonly passwordLinks: PasswordLinks;
  readonly secondFactors: SecondFactorStore;
  readonly recoveryCodes: RecoveryCodes;
  readonly securityKeys: SecurityKeyStore;
  readonly loginFailures: LoginFailureStore;
  readonly sessions: SessionStore;
};

export type AccessStores = PeopleStores & {
  readonly apiKeys: ApiKeys;
  readonly sso: SsoStore;
};
