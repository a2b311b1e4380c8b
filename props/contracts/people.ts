// Made-up people and sessions for the contracts; every call gives new identities.
import { randomUUID } from 'node:crypto';
import type { PeopleStores } from '../../storage/ports/access/stores.ts';
import type { UserRow, UserStore } from '../../storage/ports/access/users.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import { hashOf, hex, NOW_MS } from './samples.ts';

export type PeoplePorts = PeopleStores & { readonly audit: AuditLog };

export const CONTEXT = { actor: 'user:root@example.test', from: '192.0.2.7', nowMs: NOW_MS };

export function newcomer(more: Partial<Parameters<UserStore['create']>[0]> = {}) {
  return {
    ...CONTEXT,
    userId: randomUUID(),
    email: `P-${hex(8)}@Example.test`,
    displayName: 'A Person',
    role: 'viewer' as const,
    passwordHash: '$argon2id$first',
    ...more,
  };
}

export function newSession(userId: string, more: { readonly createdAtMs?: number } = {}) {
  const createdAtMs = more.createdAtMs ?? NOW_MS;
  return {
    hash: hashOf(hex(16)),
    sessionId: randomUUID(),
    userId,
    stage: 'full' as const,
    method: 'password',
    address: '192.0.2.9',
    userAgent: 'a browser',
    createdAtMs,
    authenticatedAtMs: createdAtMs,
    expiresAtMs: createdAtMs + 60_000,
  };
}

/** Creates a person and gives its row. */
export async function addUser(
  users: UserStore,
  more: Parameters<typeof newcomer>[0] = {},
): Promise<UserRow> {
  const input = newcomer(more);
  if ((await users.create(input)) !== 'created') throw new Error('the address is taken');
  const row = await users.get(input.userId);
  if (row === null) throw new Error('the person is not there');
  return row;
}

/** Sets a password in place of the one in force, by a session of the person that goes on; null when it was refused. */
export async function setPassword(
  { userPasswords, sessions }: Pick<PeoplePorts, 'userPasswords' | 'sessions'>,
  input: { readonly userId: string; readonly replaces: string | null; readonly to: string },
) {
  const { userId, replaces, to: passwordHash } = input;
  const own = newSession(userId);
  await sessions.create(own);
  return userPasswords.setPassword({
    ...CONTEXT,
    userId,
    replaces,
    passwordHash,
    turn: turnOf(own.hash),
  });
}

/** How a session goes on. */
export function turnOf(from: Buffer) {
  return {
    ...{ from, to: hashOf(hex(16)), sessionId: randomUUID(), stage: 'full' as const },
    ...{ expiresAtMs: NOW_MS + 90_000, nowMs: NOW_MS + 10, authenticatedAtMs: NOW_MS + 10 },
  };
}

/** The newest audit row of one action on a target. */
export async function lastAudit(audit: AuditLog, action: string, target: string) {
  const query = { action, target, order: 'newest', after: null, limit: 1 } as const;
  return (await audit.search(query))[0];
}
