// Admission of people and of their keys by example: whose role counts, when a session is over, whose budget is used.
import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { RATE_LIMIT_WINDOW_MS, SESSION_IDLE_MS } from '../../machines/limits.ts';
import { ROLE_SCOPES, type Role } from '../../machines/trust/roles.rules.ts';
import { formatSecret } from '../../machines/trust/secret.rules.ts';
import type { ApiKeyRow } from '../../storage/ports/access/api-keys.ts';
import type { SessionRow } from '../../storage/ports/access/sessions.ts';
import type { UserRow } from '../../storage/ports/access/users.ts';
import { createAdmitter } from './admitter.ts';
import { createMemoryBudget } from './rate-budget.ts';
import { SESSION_COOKIE, sessionCookieOf } from './session-cookie.ts';

const ADDRESS = '192.0.2.1';
const sha256 = (text: string) => createHash('sha256').update(text).digest();

/** An admitter over three maps, with small budgets and a person of each credential. */
function setUp(role: Role = 'operator', limits = { large: 10, small: 5, address: 100 }) {
  const state = { nowMs: 1_700_000_000_000, lacks: false };
  const keys = new Map<string, ApiKeyRow>();
  const sessions = new Map<string, SessionRow>();
  const user: UserRow = {
    ...{ userId: 'u', email: 'p@example.org', displayName: '', role, status: 'active', tags: [] },
    ...{
      passwordHash: null,
      passwordChangedAtMs: null,
      mustChangePassword: false,
      createdAtMs: 0,
      lastLoginAtMs: null,
    },
    ...{ mfa: { state: 'off', sealedSecret: null, lastStep: 0, changedAtMs: null }, revision: 1 },
  };
  const users = new Map<string, UserRow>([['u', user]]);
  const noted: string[] = [];
  const pending = new Map<string, number>();
  const batch = (kind: string) => ({
    note: (hash: Buffer, atMs: number) => {
      noted.push(kind);
      pending.set(hash.toString('hex'), atMs);
    },
    noted: (hash: Buffer) => pending.get(hash.toString('hex')) ?? null,
    close: async () => undefined,
  });
  const budgets = {
    large: createMemoryBudget(limits.large),
    small: createMemoryBudget(limits.small),
    address: createMemoryBudget(limits.address),
  };
  const admitter = createAdmitter({
    apiKeys: { findByHash: async (hash) => keys.get(hash.toString('hex')) ?? null },
    sessions: { findByHash: async (hash) => sessions.get(hash.toString('hex')) ?? null },
    users: { get: async (userId) => users.get(userId) ?? null },
    budgets,
    seen: { keys: batch('key'), sessions: batch('session') },
    sessionIdleMs: () => SESSION_IDLE_MS,
    needOf: () => (state.lacks ? 'totp_enrollment' : null),
    now: () => state.nowMs,
  });
  const addKey = (scopes: readonly string[], userId: string | null = 'u') => {
    const secret = formatSecret('apiKey', randomBytes(32));
    keys.set(sha256(secret).toString('hex'), {
      ...{ keyId: `k${keys.size}`, name: 'n', scopes, userId, createdAtMs: 0 },
      ...{ lastUsedAtMs: null, expiresAtMs: null, revokedAtMs: null },
    });
    return { authorization: `Bearer ${secret}`, cookie: undefined, address: ADDRESS };
  };
  const addSession = (more: Partial<SessionRow> = {}) => {
    const secret = randomBytes(32).toString('base64url');
    const hash = sha256(secret);
    sessions.set(hash.toString('hex'), {
      ...{ hash, sessionId: `s${sessions.size}`, userId: 'u', stage: 'full', method: 'password' },
      ...{ address: '', userAgent: '', createdAtMs: state.nowMs, lastSeenAtMs: state.nowMs },
      ...{ expiresAtMs: state.nowMs + 12 * SESSION_IDLE_MS, endedAtMs: null },
      ...{ authenticatedAtMs: state.nowMs, ...more },
    });
    const cookie = `a=b; ${SESSION_COOKIE}=${secret}`;
    return { authorization: undefined, cookie, address: ADDRESS };
  };
  const admit = async (credentials: Parameters<typeof admitter.admit>[0]) => {
    const { result } = await admitter.admit(credentials);
    return result.ok ? result.operator : result.code;
  };
  return { ...{ state, users, user, admitter, noted }, addKey, addSession, admit };
}

describe('a person', () => {
  it('should be let in by a session, with the scopes of the role it has now', async () => {
    const { users, user, addSession, admit } = setUp();
    const session = addSession();

    expect(await admit(session)).toMatchObject({
      ...{ kind: 'session', userId: 'u', actor: 'user:p@example.org', role: 'operator' },
      ...{ stage: 'full', scopes: ROLE_SCOPES.operator },
    });
    users.set('u', { ...user, role: 'viewer' });
    expect(await admit(session)).toMatchObject({ role: 'viewer', scopes: ROLE_SCOPES.viewer });
    users.set('u', { ...user, status: 'disabled' });
    expect(await admit(session)).toBe('credential_invalid');
    users.delete('u');
    expect(await admit(session)).toBe('credential_invalid');
  });

  it('should hold no scope before the second factor, whether it waits or is missing', async () => {
    const { state, addSession, admit } = setUp();

    expect(await admit(addSession({ stage: 'partial' }))).toMatchObject({
      ...{ stage: 'partial', scopes: [] },
    });
    const session = addSession();
    state.lacks = true;
    expect(await admit(session)).toMatchObject({ stage: 'partial', scopes: [] });
  });

  it('should stay while it does something, and be gone after an hour of nothing', async () => {
    const { state, addSession, admit } = setUp();
    const session = addSession();
    for (let i = 0; i < 3; i += 1) {
      state.nowMs += SESSION_IDLE_MS - 1;
      expect(await admit(session)).toMatchObject({ kind: 'session' });
    }
    state.nowMs += SESSION_IDLE_MS;

    expect(await admit(session)).toBe('credential_invalid');
  });

  it('should be gone at the absolute end, and when the session was ended', async () => {
    const { state, addSession, admit } = setUp();
    const { nowMs } = state;

    expect(await admit(addSession({ expiresAtMs: nowMs }))).toBe('credential_invalid');
    expect(await admit(addSession({ endedAtMs: nowMs }))).toBe('credential_invalid');
    expect(await admit(addSession({ expiresAtMs: nowMs + 1 }))).toMatchObject({ stage: 'full' });
  });
});

describe('a key', () => {
  it('should be what its scopes leave of the role its maker has now', async () => {
    const { users, user, addKey, admit } = setUp('operator');
    const key = addKey(['sensors:write', 'users:write', 'events:read']);

    expect(await admit(key)).toMatchObject({
      ...{ kind: 'api_key', role: 'operator', scopes: ['events:read', 'sensors:write'] },
    });
    users.set('u', { ...user, role: 'viewer' });
    expect(await admit(key)).toMatchObject({ role: 'viewer', scopes: ['events:read'] });
    users.set('u', { ...user, status: 'disabled' });
    expect(await admit(key)).toBe('credential_invalid');
    users.delete('u');
    expect(await admit(key)).toBe('credential_invalid');
  });

  it('should act as an admin, cut by its scopes, when the Console itself made it', async () => {
    const { addKey, admit } = setUp();

    expect(await admit(addKey(['users:write'], null))).toMatchObject({
      ...{ role: 'admin', userId: null, scopes: ['users:write'] },
    });
  });

  it('should win over a session beside it, even when it is bad', async () => {
    const { addKey, addSession, admit } = setUp();
    const { cookie } = addSession();

    expect(await admit({ ...addKey(['events:read']), cookie })).toMatchObject({ kind: 'api_key' });
    expect(await admit({ authorization: 'Bearer x', cookie, address: ADDRESS })).toBe(
      'credential_invalid',
    );
  });
});

describe('the budget of a person', () => {
  it('should be one, however many sessions and keys it has', async () => {
    const { addKey, addSession, admit } = setUp('operator');
    const all = [addSession(), addSession(), addKey(['admin']), addKey(['events:read'])];
    const answers: unknown[] = [];
    for (let i = 0; i < 12; i += 1) {
      const one = all[i % all.length];
      if (one !== undefined) answers.push(await admit(one));
    }
    expect(answers.filter((one) => one === 'rate_limited')).toHaveLength(2);
  });

  it.each([
    ['viewer', 5],
    ['analyst', 5],
    ['sensor_owner', 10],
    ['operator', 10],
    ['admin', 10],
  ] as const)('should be of the level of %s', async (role, limit) => {
    const { addSession, admitter } = setUp(role);
    const { budget } = await admitter.admit(addSession());

    expect(budget).toMatchObject({ name: 'user', state: { limit, remaining: limit - 1 } });
    expect(budget?.state.resetMs).toBeLessThanOrEqual(RATE_LIMIT_WINDOW_MS);
  });

  it('should note each use in its batch, and none of a request that was refused', async () => {
    const { addKey, addSession, admit, noted } = setUp('operator', {
      ...{ large: 2, small: 2, address: 100 },
    });
    await admit(addSession());
    await admit(addKey(['admin']));
    await admit(addSession());
    await admit(addSession({ endedAtMs: 1 }));

    expect(noted).toEqual(['session', 'key']);
  });

  it('should pass an address that others used up, once the credential was good', async () => {
    const { addSession, admit } = setUp('operator', { large: 10, small: 10, address: 2 });
    const [session, late] = [addSession(), addSession()];
    expect(await admit(session)).toMatchObject({ kind: 'session' });
    const nobody = { authorization: undefined, cookie: undefined, address: ADDRESS };
    for (let i = 0; i < 3; i += 1) await admit(nobody);

    expect(await admit(nobody)).toBe('rate_limited');
    expect(await admit(session)).toMatchObject({ kind: 'session' });
    expect(await admit(late)).toBe('rate_limited');
  });
});

describe('the cookie of a session', () => {
  const value = 'A'.repeat(43);
  it.each([
    [`${SESSION_COOKIE}=${value}`, value],
    [`a=b; ${SESSION_COOKIE}=${value};c=d`, value],
    [undefined, null],
    ['', null],
    [`${SESSION_COOKIE}=`, null],
    [`${SESSION_COOKIE}=${value}x`, null],
    [`${SESSION_COOKIE}="${value}"`, null],
    [`x${SESSION_COOKIE}=${value}`, null],
    [`service_session=${value}`, null],
    [`${SESSION_COOKIE}=${value}; ${SESSION_COOKIE}=${'B'.repeat(43)}`, null],
  ])('should be read from %s', (header, found) => {
    expect(sessionCookieOf(header)).toBe(found);
  });
});
