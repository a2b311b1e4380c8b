// The reference store of accounts. invariant: I18
import {
  emailKeyOf,
  endsSessions,
  givesMore,
  takesAdmin,
} from '../../../machines/console/access/account.rules.ts';
import {
  auditOfUser,
  auditOfUserChange,
  auditOfUserCreate,
  auditOfUserRemove,
} from '../../ports/access/user-audit.ts';
import type { UserRow, UserStore } from '../../ports/access/users.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';
import {
  dropLinksOf,
  dropUser,
  endCredentialsOf,
  endSessionsOf,
  isOfRole,
  type PeopleState,
  type RecordEntry,
} from './people-state.ts';

/** Its calls on a state; `onGone` is told the id of whoever was removed. */
export function userCalls(
  state: PeopleState,
  record: RecordEntry,
  onGone: (userId: string) => void,
): Calls<UserStore> {
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
      const changed: UserRow = {
        ...{ ...before, ...input.patch, displayName: storableText(displayName) },
        revision: before.revision + 1,
      };
      users.set(changed.userId, changed);
      const { after, ended } = withEnds(state, { before, changed, nowMs: input.nowMs });
      record(auditOfUserChange(input, before, after, ended));
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
    noteLogin(input) {
      const user = users.get(input.userId);
      if (user === undefined) return;
      users.set(user.userId, { ...user, lastLoginAtMs: input.nowMs });
      const detail = { method: input.method, session: input.session };
      record(auditOfUser(input, { action: 'user.login', user, detail }));
    },
  };
}

/** What a change ends with it. */
function withEnds(
  state: PeopleState,
  of: { readonly before: UserRow; readonly changed: UserRow; readonly nowMs: number },
) {
  const { before, changed, nowMs } = of;
  if (!endsSessions(before, changed)) return { after: changed };
  const { userId } = changed;
  const sessions = endSessionsOf(state, { userId, nowMs });
  dropLinksOf(state, userId);
  if (!givesMore(before.role, changed.role))
    return { after: changed, ended: { sessions, keys: null } };
  const { user: after, keys } = endCredentialsOf(state, changed, nowMs);
  return { after, ended: { sessions, keys } };
}

function refusalOf(
  state: PeopleState,
  { revision, judgedRole, patch }: Parameters<UserStore['change']>[0],
  before: UserRow | undefined,
): 'not_found' | 'conflict' | 'last_admin' | null {
  if (before === undefined) return 'not_found';
  if (before.revision !== revision || !isOfRole(before, judgedRole)) return 'conflict';
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
