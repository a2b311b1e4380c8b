// The desks about people, as the operator plane is given them.
import type { UserStore } from '../../storage/ports/access/users.ts';
import type { LoginService } from './login.ts';
import type { LoginEvidence } from './login-evidence.ts';
import type { NeedOf } from './login-need.ts';
import type { PasswordService } from './own-password.ts';
import type { SessionService } from './sessions.ts';
import type { UserService } from './users.ts';

export type People = {
  readonly users: Pick<UserStore, 'get' | 'list' | 'findByEmail'>;
  readonly service: UserService;
  readonly sessions: SessionService;
  readonly login: LoginService;
  readonly passwords: PasswordService;
  /** What happened before the login that a session began with; null when that is not known. Rejects with StoreUnavailable. */
  beforeLogin(userId: string, sessionId: string): Promise<LoginEvidence | null>;
  /** What a session of a person still lacks. */
  readonly needOf: NeedOf;
};
