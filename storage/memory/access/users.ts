// The reference store of people. invariant: I11, I18
import {
  emailKeyOf,
  endsSessions,
  takesAdmin,
} from '../../../machines/console/access/account.rules.ts';
import type { SessionStore } from '../../ports/access/sessions.ts';
import {
  auditOfUser,
  auditOfUserChange,
  auditOfUserCreate,
  auditOfUserRemove,
} from '../../ports/access/user-audit.ts';
import type { UserRow, UserStore } from '../../ports/access/users.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { createAwaySwitch } from '../plumbing/away-switch.ts';
import { type Calls, portOf } from '../plumbing/unsafe-port-of.ts';
import { failureCalls } from './login-failures.ts';
import {
  createPeopleState,
  dropLinksOf,
  dropUser,
  endSessionsOf,
  isLiveSession,
  isOfRole,
  type PeopleState,
  type RecordEntry,
} from './people-state.ts';
import { sessionCalls } from './sessions.ts';
import { passwordCalls } from './user-passwords.ts';
import { totpCalls } from './user-totp.ts';

export type MemoryPeople = {
  readonly users: UserStore;
  readonly sessions: SessionStore;
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
  readonly users: Calls<UserStore>;
  readonly sessions: Calls<SessionStore>;
};

/** Makes both stores, empty, on one switch. */
export function createMemoryPeople(record?: RecordEntry): MemoryPeople {
  const { ask, setAway } = createAwaySwitch();
  const { users, sessions, has, isLive, onRemoved, onReset, state } = peopleCalls(record);
  return {
    users: portOf<UserStore>('users', users, ask),
    sessions: portOf<SessionStore>('sessions', sessions, ask),
    has,
    isLive,
    onRemoved,
    state,
    onReset,
    setAway,
  };
}

/** The calls of both stores on nobody. */
export function peopleCalls(record: RecordEntry = () => undefined): PeopleCalls {
  const state = createPeopleState();
  const drops: ((userId: string) => void)[] = [];
  const onGone = (userId: string) => {
    for (const drop of drops) drop(userId);
  };
  return {
    users: {
      ...accountCalls(state, record, onGone),
      ...passwordCalls(state, record),
      ...totpCalls(state, record),
      ...failureCalls(state),
    },
    sessions: sessionCalls(state, record),
    has: (userId) => state.users.has(userId),
    isLive: (of) => isLiveSession(state, of),
    onRemoved: (drop) => drops.push(drop),
    state,
    onReset: (endKeys) => state.keyEnders.push(endKeys),
  };
}

type Accounts = Pick<
  Calls<UserStore>,
  'create' | 'get' | 'findByEmail' | 'list' | 'change' | 'remove'
>;

function accountCalls(
  state: PeopleState,
  record: RecordEntry,
  onGone: (userId: string) => void,
): Accounts {
  const { users } = state;
  const find = (key: string) => [...users.values()].find((one) => emailKeyOf(one.email) === key);
  return {
    create(input) {
      const key = emailKeyOf(storableText(input.email));
      const result = find(key) === undefined ? 'created' : 'email_taken';
      record(auditOfUserCreate(input, result === 'created' ? 'ok' : result));
      if (result === 'email_taken') return result;
      if (users.has(input.userId)) throw new Error('a person with this id exists');
      users.set(input.userId, newUser(input));
      return result;
    },
    get: (userId) => users.get(userId) ?? null,
    findByEmail: (email) => find(emailKeyOf(storableText(email))) ?? null,
    list: ({ limit, after }) =>
      [...users.values()]
        .map((row) => ({ row, key: emailKeyOf(row.email) }))
        .filter(({ key }) => after === null || key > after)
        .sort((a, b) => (a.key < b.key ? -1 : 1))
        .slice(0, limit)
        .map(({ row }) => row),
    change(input) {
      const before = users.get(input.userId);
      const refused = refusalOf(state, input, before);
      if (before === undefined || refused !== null) {
        const [user, result] = [before ?? input.userId, refused ?? 'not_found'];
        record(auditOfUser(input, { action: 'user.change', user, result }));
        return result;
      }
      const { displayName = before.displayName } = input.patch;
      const after: UserRow = {
        ...{ ...before, ...input.patch, displayName: storableText(displayName) },
        revision: before.revision + 1,
      };
      users.set(after.userId, after);
      if (endsSessions(before, after)) {
        endSessionsOf(state, input);
        dropLinksOf(state, input.userId);
      }
      record(auditOfUserChange(input, before, after));
      return after;
    },
    remove(input) {
      const before = users.get(input.userId);
      const isLast = before !== undefined && isLastAdmin(state, before);
      const isOther = before !== undefined && !isOfRole(before, input.judgedRole);
      const refused = isOther ? 'conflict' : isLast ? 'last_admin' : 'ok';
      const result = before === undefined ? 'not_found' : refused;
      record(auditOfUserRemove(input, before ?? null, result));
      if (result !== 'ok') return result;
      dropUser(state, input.userId);
      onGone(input.userId);
      return result;
    },
  };
}

function refusalOf(
  state: PeopleState,
  { revision, patch }: Parameters<UserStore['change']>[0],
  before: UserRow | undefined,
): 'not_found' | 'conflict' | 'last_admin' | null {
  if (before === undefined) return 'not_found';
  if (before.revision !== revision) return 'conflict';
  return isLastAdmin(state, before) && takesAdmin(patch) ? 'last_admin' : null;
}

function isLastAdmin({ users }: PeopleState, user: UserRow): boolean {
  const isAdmin = (one: UserRow) => one.role === 'admin' && one.status === 'active';
  return isAdmin(user) && ![...users.values()].some((one) => one !== user && isAdmin(one));
}

function newUser(input: Parameters<UserStore['create']>[0]): UserRow {
  return {
    userId: input.userId,
    email: storableText(input.email),
    displayName: storableText(input.displayName),
    role: input.role,
    status: 'active',
    tags: [],
    passwordHash: input.passwordHash,
    passwordChangedAtMs: input.passwordHash === null ? null : input.nowMs,
    mustChangePassword: input.mustChangePassword ?? false,
    createdAtMs: input.nowMs,
    lastLoginAtMs: null,
    mfa: { state: 'off', sealedSecret: null, lastStep: 0, changedAtMs: null },
    revision: 1,
  };
}
