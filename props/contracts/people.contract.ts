// Every promise about people and their sessions, for one database that holds nobody else.
import type { Harness } from './away.ts';
import { lastAdminContract } from './last-admin.contract.ts';
import { loginFailuresContract } from './login-failures.contract.ts';
import type { PeoplePorts } from './people.ts';
import { secondFactorStoreContract } from './second-factor-store.contract.ts';
import { securityKeysContract } from './security-keys.contract.ts';
import { sessionsContract } from './sessions.contract.ts';
import { usersContract } from './users.contract.ts';

export function peopleContract(harness: Harness<PeoplePorts>): void {
  usersContract(harness);
  lastAdminContract(harness);
  secondFactorStoreContract(harness);
  securityKeysContract(harness);
  loginFailuresContract(harness);
  sessionsContract(harness);
}
