// The desks about people, as the operator plane is given them.
import type { UserStore } from '../../storage/ports/access/users.ts';
import type { LoginDesk } from './login.ts';
import type { NeedOf } from './login-need.ts';
import type { PasswordDesk } from './own-password.ts';
import type { SessionDesk } from './sessions.ts';
import type { UserDesk } from './users.ts';

export type People = {
  readonly users: Pick<UserStore, 'get' | 'list' | 'findByEmail'>;
  readonly desk: UserDesk;
  readonly sessions: SessionDesk;
  readonly login: LoginDesk;
  readonly passwords: PasswordDesk;
  /** What a session of a person still lacks. */
  readonly needOf: NeedOf;
};
