// The reference store's part about passwords and the links with which they are set. invariant: I2, I11
import { auditOfUser } from '../../ports/access/user-audit.ts';
import type { UserRow, UserStore } from '../../ports/access/users.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';
import {
  addTurned,
  dropLinksOf,
  endSessionsOf,
  isLiveSession,
  isOfRole,
  type PeopleState,
  type RecordEntry,
} from './people-state.ts';

type Passwords = Pick<
  Calls<UserStore>,
  'setPassword' | 'rehash' | 'noteLogin' | 'createLink' | 'useLink' | 'findLink'
>;

/** The calls on a state. */
export function passwordCalls(state: PeopleState, record: RecordEntry): Passwords {
  const { users, links } = state;
  const ownerOf = (hash: Buffer, nowMs: number): UserRow | null => {
    const link = links.get(hash.toString('hex'));
    const isGood = link !== undefined && link.expiresAtMs > nowMs;
    const owner = isGood ? users.get(link.userId) : undefined;
    return owner?.status === 'active' ? owner : null;
  };
  return {
    setPassword(input) {
      const { userId, turn, passwordHash, nowMs } = input;
      const user = users.get(userId);
      const old = state.sessions.get(turn.from.toString('hex'));
      if (user === undefined || old === undefined || user.passwordHash !== input.replaces) {
        return null;
      }
      if (!isLiveSession(state, { userId, hash: turn.from, nowMs })) return null;
      users.set(userId, {
        ...{ ...user, passwordHash, passwordChangedAtMs: nowMs },
        mustChangePassword: false,
      });
      dropLinksOf(state, userId);
      const ended = endSessionsOf(state, { userId, nowMs });
      const row = addTurned(state, old, turn);
      const detail = { sessions_ended: ended };
      record(auditOfUser(input, { action: 'user.password', user, detail }));
      return row;
    },
    rehash({ userId, replaces, passwordHash }) {
      const user = users.get(userId);
      if (user?.passwordHash === replaces) users.set(userId, { ...user, passwordHash });
    },
    noteLogin(input) {
      const user = users.get(input.userId);
      if (user === undefined) return;
      users.set(user.userId, { ...user, lastLoginAtMs: input.nowMs });
      const detail = { method: input.method };
      record(auditOfUser(input, { action: 'user.login', user, detail }));
    },
    createLink(input) {
      const user = users.get(input.userId);
      if (user === undefined || !isOfRole(user, input.judgedRole)) return false;
      dropLinksOf(state, user.userId);
      const { userId, expiresAtMs } = input;
      links.set(input.hash.toString('hex'), { userId, expiresAtMs });
      const after = { expires_at_ms: expiresAtMs };
      record(auditOfUser(input, { action: 'user.reset_link', user, after }));
      return true;
    },
    useLink(input) {
      const owner = ownerOf(input.hash, input.nowMs);
      if (owner === null) return null;
      const { passwordHash, nowMs: passwordChangedAtMs } = input;
      const user = { ...owner, passwordHash, passwordChangedAtMs, mustChangePassword: false };
      users.set(user.userId, user);
      dropLinksOf(state, user.userId);
      const ended = endSessionsOf(state, { userId: user.userId, nowMs: input.nowMs });
      const enders = input.keepsKeys === true ? [] : state.keyEnders;
      const keys = enders.reduce((sum, end) => sum + end(user.userId, input.nowMs), 0);
      const detail = { sessions_ended: ended, api_keys_revoked: keys };
      record(auditOfUser(input, { action: 'user.reset', user, detail }));
      return user;
    },
    findLink: ownerOf,
  };
}
