// The reference stores of people, on one state. invariant: I11, I18
import type { LoginFailureStore } from '../../ports/access/login-failures.ts';
import type { PasswordLinks } from '../../ports/access/password-links.ts';
import type { RecoveryCodes, SecondFactorStore } from '../../ports/access/second-factors.ts';
import type { SecurityKeyStore } from '../../ports/access/security-keys.ts';
import type { SessionStore } from '../../ports/access/sessions.ts';
import type { PasswordStore } from '../../ports/access/user-passwords.ts';
import type { UserStore } from '../../ports/access/users.ts';
import type { PeopleStores } from '../../ports/stores.ts';
import { createAwaySwitch } from '../plumbing/away-switch.ts';
import { type Ask, type Calls, portOf } from '../plumbing/unsafe-port-of.ts';
import { failureCalls } from './login-failures.ts';
import { linkCalls } from './password-links.ts';
import {
  createPeopleState,
  isLiveSession,
  type PeopleState,
  type RecordEntry,
} from './people-state.ts';
import { recoveryCodeCalls, secondFactorCalls } from './second-factors.ts';
import { securityKeyCalls } from './security-keys.ts';
import { sessionCalls } from './sessions.ts';
import { passwordCalls } from './user-passwords.ts';
import { userCalls } from './users.ts';

export type MemoryPeople = PeopleStores & {
  /** Whether a person exists, for the fakes whose rows point at one. */
  has(userId: string): boolean;
  /** Whether a session of a person lives. */
  isLive(of: { readonly userId: string; readonly hash: Buffer; readonly nowMs: number }): boolean;
  /** Called with the id of whoever was removed, as a database removes the rows that point at it. */
  onRemoved(drop: (userId: string) => void): void;
  /** Called for whoever uses a link: ends its keys and says how many. */
  onReset(endKeys: (userId: string, nowMs: number) => number): void;
  /** What they hold. */
  readonly state: PeopleState;
  setAway(away: boolean): void;
};
export type PeopleCalls = Pick<
  MemoryPeople,
  'has' | 'isLive' | 'onRemoved' | 'onReset' | 'state'
> & {
  readonly [Port in keyof PeopleStores]: Calls<PeopleStores[Port]>;
};

/** Makes every store, empty, on one switch. */
export function createMemoryPeople(record?: RecordEntry): MemoryPeople {
  const { ask, setAway } = createAwaySwitch();
  const calls = peopleCalls(record);
  const { has, isLive, onRemoved, onReset, state } = calls;
  return { ...peopleStores(calls, ask), has, isLive, onRemoved, onReset, state, setAway };
}

/** The ports over their calls. */
export function peopleStores(calls: Pick<PeopleCalls, keyof PeopleStores>, ask: Ask): PeopleStores {
  return {
    users: portOf<UserStore>('users', calls.users, ask),
    userPasswords: portOf<PasswordStore>('user_passwords', calls.userPasswords, ask),
    passwordLinks: portOf<PasswordLinks>('password_links', calls.passwordLinks, ask),
    secondFactors: portOf<SecondFactorStore>('second_factors', calls.secondFactors, ask),
    recoveryCodes: portOf<RecoveryCodes>('recovery_codes', calls.recoveryCodes, ask),
    securityKeys: portOf<SecurityKeyStore>('security_keys', calls.securityKeys, ask),
    loginFailures: portOf<LoginFailureStore>('login_failures', calls.loginFailures, ask),
    sessions: portOf<SessionStore>('sessions', calls.sessions, ask),
  };
}

/** The calls of every store on nobody. */
export function peopleCalls(record: RecordEntry = () => undefined): PeopleCalls {
  const state = createPeopleState();
  const drops: ((userId: string) => void)[] = [];
  const onGone = (userId: string) => {
    for (const drop of drops) drop(userId);
  };
  return {
    users: userCalls(state, record, onGone),
    userPasswords: passwordCalls(state, record),
    passwordLinks: linkCalls(state, record),
    secondFactors: secondFactorCalls(state, record),
    recoveryCodes: recoveryCodeCalls(state, record),
    securityKeys: securityKeyCalls(state, record),
    loginFailures: failureCalls(state),
    sessions: sessionCalls(state, record),
    has: (userId) => state.users.has(userId),
    isLive: (of) => isLiveSession(state, of),
    onRemoved: (drop) => drops.push(drop),
    state,
    onReset: (endKeys) => state.keyEnders.push(endKeys),
  };
}
