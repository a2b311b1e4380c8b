// The reference store of sessions. invariant: I11, I18
import { SESSIONS_PER_USER_MAX } from '../../../machines/console/access/limits.ts';
import { auditOfSessionEnd, auditOfSessionsEnd } from '../../ports/access/session-audit.ts';
import type { JudgedLogin, SessionRow, SessionStore } from '../../ports/access/sessions.ts';
import type { UserRow } from '../../ports/access/users.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';
import { addTurned, endSessionsOf, type PeopleState, type RecordEntry } from './people-state.ts';

/** The calls on a state. */
export function sessionCalls(state: PeopleState, record: RecordEntry): Calls<SessionStore> {
  const { sessions, users } = state;
  const add = (row: SessionRow) => {
    const isTaken = [...sessions.values()].some((one) => one.sessionId === row.sessionId);
    const hash = row.hash.toString('hex');
    if (isTaken || sessions.has(hash)) throw new Error('a session with this id or hash exists');
    sessions.set(hash, row);
  };
  const end = (
    input: Parameters<typeof auditOfSessionEnd>[0],
    row: SessionRow | undefined,
  ): boolean => {
    if (row?.endedAtMs !== null) return false;
    sessions.set(row.hash.toString('hex'), { ...row, endedAtMs: input.nowMs });
    record(auditOfSessionEnd(input, row));
    return true;
  };
  const listOf = (userId: string, nowMs: number) =>
    [...sessions.values()]
      .filter((row) => row.userId === userId)
      .filter((row) => row.endedAtMs === null && row.expiresAtMs > nowMs)
      .sort((a, b) => b.createdAtMs - a.createdAtMs || (a.sessionId < b.sessionId ? 1 : -1));
  return {
    create(row, judged) {
      const user = users.get(row.userId);
      if (user?.status !== 'active') return false;
      if (judged !== undefined && !isAsJudged(user, judged)) return false;
      add({
        ...row,
        method: storableText(row.method),
        address: storableText(row.address),
        userAgent: storableText(row.userAgent),
        lastSeenAtMs: row.createdAtMs,
        endedAtMs: null,
      });
      for (const old of beyondBound(listOf(row.userId, row.createdAtMs), row)) {
        sessions.set(old.hash.toString('hex'), { ...old, endedAtMs: row.createdAtMs });
      }
      return true;
    },
    findByHash: (hash) => sessions.get(hash.toString('hex')) ?? null,
    rotate(turn) {
      const { from, nowMs } = turn;
      const old = sessions.get(from.toString('hex'));
      if (old?.endedAtMs !== null || old.expiresAtMs <= nowMs) return null;
      if (users.get(old.userId)?.status !== 'active') return null;
      const row = addTurned(state, old, turn);
      sessions.set(from.toString('hex'), { ...old, endedAtMs: nowMs });
      return row;
    },
    touch(seen) {
      for (const { hash, atMs } of seen) {
        const row = sessions.get(hash.toString('hex'));
        if (row === undefined || row.lastSeenAtMs >= atMs) continue;
        sessions.set(hash.toString('hex'), { ...row, lastSeenAtMs: atMs });
      }
    },
    listOf,
    end: (input) => end(input, sessions.get(input.hash.toString('hex'))),
    endOf: (input) =>
      end(
        input,
        [...sessions.values()].find(
          (row) => row.sessionId === input.sessionId && row.userId === input.userId,
        ),
      ),
    endAllOf(input) {
      if (!users.has(input.userId)) return 0;
      const ended = endSessionsOf(state, input);
      record(auditOfSessionsEnd(input, ended));
      return ended;
    },
    sweep(beforeMs) {
      const old = [...sessions].filter(
        ([, row]) => Math.min(row.endedAtMs ?? row.expiresAtMs, row.expiresAtMs) < beforeMs,
      );
      for (const [hash] of old) sessions.delete(hash);
      return old.length;
    },
  };
}

/** Who makes room for a new one, out of the live ones, newest first: partial ones first. */
function beyondBound(live: readonly SessionRow[], { hash }: Pick<SessionRow, 'hash'>) {
  const others = live.filter((one) => !one.hash.equals(hash));
  const isFull = ({ stage }: SessionRow) => Number(stage === 'full');
  return others.toSorted((a, b) => isFull(b) - isFull(a)).slice(SESSIONS_PER_USER_MAX - 1);
}

function isAsJudged(user: UserRow, { passwordHash, role, hasFactor }: JudgedLogin): boolean {
  const isPassword = passwordHash === undefined || passwordHash === user.passwordHash;
  return isPassword && role === user.role && hasFactor === (user.mfa.state === 'on');
}
