// The reference store of passwords. invariant: I11
import { auditOfUser } from '../../ports/access/user-audit.ts';
import type { PasswordStore } from '../../ports/access/user-passwords.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';
import {
  addTurned,
  dropLinksOf,
  endSessionsOf,
  isLiveSession,
  type PeopleState,
  type RecordEntry,
} from './people-state.ts';

/** Its calls on a state. */
export function passwordCalls(state: PeopleState, record: RecordEntry): Calls<PasswordStore> {
  const { users } = state;
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
  };
}
