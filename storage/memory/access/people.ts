// The reference stores of people, on one state. invariant: I11, I18
import type { PeopleStores } from '../../ports/access/stores.ts';
import { createAwaySwitch } from '../plumbing/away-switch.ts';
import { portsOf, type StoreCalls } from '../plumbing/unsafe-port-of.ts';
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
export type PeopleCalls = Pick<MemoryPeople, 'has' | 'isLive' | 'onRemoved' | 'onReset' | 'state'> &
  StoreCalls<PeopleStores>;

/** Makes every store, empty, on one switch. */
export function createMemoryPeople(record?: RecordEntry): MemoryPeople {
  const { ask, setAway } = createAwaySwitch();
  const { has, isLive, onRemoved, onReset, state, ...calls } = peopleCalls(record);
  return { ...portsOf<PeopleStores>(calls, ask), has, isLive, onRemoved, onReset, state, setAway };
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
