// What the reference stores of people and sessions share, as the real ones share a database: accounts, links, recovery
// codes, counted failures and sessions. Calls run to their end at once, which is what a transaction promises.

import type { Role } from '../../../machines/trust/roles.rules.ts';
import type { LoginFailures } from '../../ports/access/login-failures.ts';
import type { SecurityKeyRow } from '../../ports/access/security-keys.ts';
import type { SessionRow, SessionTurn } from '../../ports/access/sessions.ts';
import type { UserRow } from '../../ports/access/users.ts';
import type { AuditEntry } from '../../ports/audit/audit-log.ts';

export type MemoryLink = { readonly userId: string; readonly expiresAtMs: number };

/** Writes an audit row at once. */
export type RecordEntry = (entry: AuditEntry) => void;

export type PeopleState = {
  /** Each ends the keys of a person and says how many, as one transaction reaches every table. */
  readonly keyEnders: ((userId: string, nowMs: number) => number)[];
  readonly users: Map<string, UserRow>;
  /** By the hash of the secret, as hex; a used one is gone. */
  readonly links: Map<string, MemoryLink>;
  /** By user: the hash of a code as hex, and whether it was used. */
  readonly codes: Map<string, Map<string, boolean>>;
  /** By their id. */
  readonly securityKeys: Map<string, SecurityKeyRow>;
  /** By purpose and session. */
  readonly challenges: Map<string, { readonly challenge: string; readonly expiresAtMs: number }>;
  readonly failures: Map<string, LoginFailures>;
  /** By the hash of the cookie's value, as hex. */
  readonly sessions: Map<string, SessionRow>;
};

/** Nobody yet. */
export function createPeopleState(): PeopleState {
  return {
    keyEnders: [],
    users: new Map(),
    links: new Map(),
    codes: new Map(),
    securityKeys: new Map(),
    challenges: new Map(),
    failures: new Map(),
    sessions: new Map(),
  };
}

/** Ends the live sessions of a person but one; how many. */
export function endSessionsOf(
  { sessions }: PeopleState,
  input: { readonly userId: string; readonly nowMs: number; readonly keep?: Buffer | null },
): number {
  const kept = input.keep?.toString('hex');
  const ending = [...sessions].filter(
    ([hash, row]) => row.userId === input.userId && row.endedAtMs === null && hash !== kept,
  );
  for (const [hash, row] of ending) sessions.set(hash, { ...row, endedAtMs: input.nowMs });
  return ending.length;
}

/** Whether a session of the person lives, as far as the clock and its end say. */
export function isLiveSession(
  { sessions }: PeopleState,
  {
    userId,
    hash,
    nowMs,
  }: { readonly userId: string; readonly hash: Buffer; readonly nowMs: number },
): boolean {
  const row = sessions.get(hash.toString('hex'));
  return row?.userId === userId && row.endedAtMs === null && row.expiresAtMs > nowMs;
}

/** Begins what follows an older session; the older one is left to the caller. */
export function addTurned(
  { sessions }: PeopleState,
  old: SessionRow,
  { to, sessionId, stage, expiresAtMs, authenticatedAtMs, nowMs }: SessionTurn,
): SessionRow {
  const isTaken = [...sessions.values()].some((one) => one.sessionId === sessionId);
  const hash = to.toString('hex');
  if (isTaken || sessions.has(hash)) throw new Error('a session with this id or hash exists');
  const times = { createdAtMs: nowMs, lastSeenAtMs: nowMs, expiresAtMs, endedAtMs: null };
  const shown = { authenticatedAtMs: authenticatedAtMs ?? old.authenticatedAtMs };
  const row = { ...old, hash: to, sessionId, stage, ...times, ...shown };
  sessions.set(hash, row);
  return row;
}

/** Whether a person still has the role that was judged; also when none was. */
export function isOfRole({ role }: UserRow, judged: Role | undefined): boolean {
  return judged === undefined || judged === role;
}

/** Forgets every link of a person. */
export function dropLinksOf({ links }: PeopleState, userId: string): void {
  for (const [hash, link] of links) if (link.userId === userId) links.delete(hash);
}

/** Forgets every security key of a person. */
export function dropSecurityKeysOf({ securityKeys }: PeopleState, userId: string): void {
  for (const [id, row] of securityKeys) if (row.userId === userId) securityKeys.delete(id);
}

/** Ends the API keys of a person; how many. */
export function endKeysOf({ keyEnders }: PeopleState, userId: string, nowMs: number): number {
  return keyEnders.reduce((sum, end) => sum + end(userId, nowMs), 0);
}

/** Ends all that was set up on a person to get in with, but for the ties to providers. */
export function endCredentialsOf(
  state: PeopleState,
  person: UserRow,
  nowMs: number,
): { readonly user: UserRow; readonly keys: number } {
  const user: UserRow = {
    ...{ ...person, passwordHash: null, passwordChangedAtMs: null, mustChangePassword: false },
    mfa: { state: 'off', sealedSecret: null, lastStep: 0, changedAtMs: null },
  };
  state.users.set(user.userId, user);
  state.codes.delete(user.userId);
  dropSecurityKeysOf(state, user.userId);
  return { user, keys: endKeysOf(state, user.userId, nowMs) };
}

/** Forgets a person and all that points at it. */
export function dropUser(state: PeopleState, userId: string): void {
  state.users.delete(userId);
  state.codes.delete(userId);
  dropLinksOf(state, userId);
  dropSecurityKeysOf(state, userId);
  for (const [hash, row] of state.sessions) {
    if (row.userId === userId) state.sessions.delete(hash);
  }
}
