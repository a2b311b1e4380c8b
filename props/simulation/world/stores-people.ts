// People, their sessions and their keys with a word to the checkers at every commit that changed who is let in. What is
// told is read from the state before and after, never from what the caller is answered: an answer can be lost.
import type { RecordEntry } from '../../../storage/memory/access/people-state.ts';
import { accessMemory } from '../../../storage/memory/access/stores.ts';
import type { StoreCalls } from '../../../storage/memory/plumbing/unsafe-port-of.ts';
import type { SessionRow } from '../../../storage/ports/access/sessions.ts';
import type { AccessStores } from '../../../storage/ports/access/stores.ts';
import type { UserRow } from '../../../storage/ports/access/users.ts';
import type { Observation } from './observation.ts';

const PEOPLE_MAX = 1_000;
const BEFORE_TIME = Number.NEGATIVE_INFINITY;

export type ObservedAccess = {
  readonly stores: StoreCalls<AccessStores>;
  has(userId: string): boolean;
  /** From now on a change of an account ends no session. */
  keepSessions(): void;
  /** Everybody there is, for checkers: read only. */
  people(): readonly UserRow[];
};

/** The calls on nobody, observed. */
export function observedAccess(
  record: RecordEntry,
  observe: (observation: Observation) => void,
): ObservedAccess {
  const access = accessMemory(record, (key) => observe({ kind: 'key.ended', key }));
  const { stores: people, has, state, keys: rows } = access;
  const keys = people.apiKeys;
  const everybody = () => people.users.list({ limit: PEOPLE_MAX, after: null });

  function live(): ReadonlyMap<string, SessionRow> {
    const found = new Map<string, SessionRow>();
    for (const { userId } of everybody()) {
      for (const row of people.sessions.listOf(userId, BEFORE_TIME)) found.set(row.sessionId, row);
    }
    return found;
  }

  function tellDifference(
    before: { users: ReadonlyMap<string, UserRow>; sessions: ReadonlyMap<string, SessionRow> },
    after: typeof before,
  ): void {
    for (const [user, { role, status }] of after.users) {
      const old = before.users.get(user);
      if (old?.role === role && old.status === status) continue;
      observe({ kind: 'account.changed', user, role, isActive: status === 'active' });
    }
    for (const session of before.sessions.keys()) {
      if (!after.sessions.has(session)) observe({ kind: 'session.ended', session });
    }
    for (const [session, { userId, stage, createdAtMs, expiresAtMs }] of after.sessions) {
      if (before.sessions.has(session)) continue;
      observe({ kind: 'session.begun', session, user: userId, stage, createdAtMs, expiresAtMs });
    }
  }

  const look = () => ({
    users: new Map(everybody().map((row) => [row.userId, row])),
    sessions: live(),
  });

  /** The same calls, each followed by what it changed. */
  function watched<C extends object>(calls: C, names: readonly (keyof C & string)[]): C {
    const changed: Record<string, unknown> = {};
    for (const name of names) {
      const call = calls[name] as (...args: readonly unknown[]) => unknown;
      changed[name] = (...args: readonly unknown[]) => {
        const before = look();
        const answer = call(...args);
        tellDifference(before, look());
        return answer;
      };
    }
    return { ...calls, ...changed };
  }

  let isKeeping = false;
  const change: typeof people.users.change = (input) => {
    const before = new Map(state.sessions);
    const answer = people.users.change(input);
    if (isKeeping) for (const [hash, row] of before) state.sessions.set(hash, row);
    return answer;
  };

  const stores: StoreCalls<AccessStores> = {
    ...people,
    users: watched({ ...people.users, change }, ['create', 'change', 'remove']),
    userPasswords: watched(people.userPasswords, ['setPassword']),
    passwordLinks: watched(people.passwordLinks, ['useLink']),
    secondFactors: watched(people.secondFactors, ['confirmTotp', 'removeTotp']),
    sessions: watched(people.sessions, ['create', 'rotate', 'end', 'endOf', 'endAllOf']),
    apiKeys: {
      ...keys,
      create(input) {
        const answer = keys.create(input);
        if (answer === 'created') {
          const { keyId: key, userId: user = null, scopes, expiresAtMs } = input;
          observe({ kind: 'key.made', key, user, scopes, expiresAtMs });
        }
        return answer;
      },
      revoke(input) {
        const isOpen = [...rows.values()].some(
          (row) => row.keyId === input.keyId && row.revokedAtMs === null,
        );
        const row = keys.revoke(input);
        if (isOpen && row !== null) observe({ kind: 'key.ended', key: input.keyId });
        return row;
      },
    },
  };
  return {
    stores,
    people: everybody,
    has,
    keepSessions: () => {
      isKeeping = true;
    },
  };
}
