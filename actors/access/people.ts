// The desks about people, as the operator plane is given them.
import type { FactorNeed } from '../../machines/console/access/second-factor.rules.ts';
import type { UserRow, UserStore } from '../../storage/ports/access/users.ts';
import type { LoginDesk } from './login.ts';
import type { PasswordDesk } from './own-password.ts';
import type { SessionDesk } from './sessions.ts';
import type { UserDesk } from './users.ts';

export type People = {
  readonly users: Pick<UserStore, 'get' | 'list' | 'findByEmail'>;
  readonly desk: UserDesk;
  readonly sessions: SessionDesk;
  readonly login: LoginDesk;
  readonly passwords: PasswordDesk;
  /** What a login of a person by password still lacks. */
  readonly needOf: (user: UserRow) => FactorNeed | null;
};
