// API keys by example: people make their own within their role, a key makes none, an end is an end at once.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  API_KEY_ENDS_SOON_MS,
  API_KEY_TTL_DEFAULT_MS,
  API_KEYS_PER_USER_MAX,
} from '../../../machines/limits.ts';
import type { Role } from '../../../machines/trust/roles.rules.ts';
import { kindOfSecret } from '../../../machines/trust/secret.rules.ts';
import { createFixture, type Fixture, NOW_MS } from '../plumbing/operator-plane.fixture.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.close());

type Method = 'GET' | 'POST' | 'DELETE';
const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin', 'x-service-csrf': '1' };

async function ask(
  headers: Readonly<Record<string, string>>,
  method: Method,
  path: string,
  payload?: object,
) {
  const answer = await fixture.app.inject({
    ...{ method, url: `/api/v2${path}`, headers: { ...headers } },
    ...(payload === undefined ? {} : { payload }),
  });
  const body = answer.json();
  return { status: answer.statusCode, body, code: body.code as string | undefined };
}

function personWith(role: Role) {
  const userId = fixture.addUser(role);
  return { userId, headers: { ...fixture.addSession(userId), ...SAME_ORIGIN } };
}

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

describe('making an API key', () => {
  it('should tell its secret once and let it do what it holds', async () => {
    const { headers, userId } = personWith('operator');
    const asked = { name: 'CI', scopes: ['sensors:read'] };
    const made = await ask(headers, 'POST', '/api-keys', asked);
    const ends = new Date(NOW_MS + API_KEY_TTL_DEFAULT_MS).toISOString();
    expect(made).toMatchObject({
      status: 201,
      body: { ...asked, user_id: userId, status: 'usable', expires_at: ends, last_used_at: null },
    });
    const { secret, key_id: keyId } = made.body;
    expect(kindOfSecret(secret)).toBe('apiKey');
    const own = await ask(headers, 'GET', '/api-keys');
    expect(own.body.items).toMatchObject([{ key_id: keyId }]);
    expect(JSON.stringify([own.body, fixture.state.audit])).not.toContain(secret);
    expect((await ask(bearer(secret), 'GET', '/sensors')).status).toBe(200);
    expect((await ask(bearer(secret), 'GET', '/enrollment-tokens')).code).toBe('role_required');
    expect(fixture.state.audit.find((one) => one.action === 'api_key.create')).toMatchObject({
      target: keyId,
      after: { name: 'CI', scopes: ['sensors:read'], user_id: userId },
    });
  });

  it('should give no more than its maker holds', async () => {
    const { headers } = personWith('viewer');
    for (const [scopes, code] of [
      [['sensors:write'], 'role_required'],
      [['admin'], 'role_required'],
      [['sensors:read', 'users:write'], 'role_required'],
      [['all:everything'], 'schema_violation'],
      [[], 'schema_violation'],
    ] as const) {
      expect((await ask(headers, 'POST', '/api-keys', { name: 'k', scopes })).code).toBe(code);
    }
  });

  it('should let it end in time', async () => {
    const person = personWith('analyst');
    const asked = { name: 'k', scopes: ['events:read'] };
    for (const [expires, code] of [
      [null, 'role_required'],
      [new Date(NOW_MS).toISOString(), 'schema_violation'],
      [new Date(NOW_MS + 366 * 86_400_000).toISOString(), 'schema_violation'],
      ['soon', 'schema_violation'],
    ] as const) {
      const body = { ...asked, expires_at: expires };
      expect((await ask(person.headers, 'POST', '/api-keys', body)).code).toBe(code);
    }
    const soon = { ...asked, expires_at: new Date(NOW_MS + 1_000).toISOString() };
    const { body } = await ask(person.headers, 'POST', '/api-keys', soon);
    fixture.state.nowMs += 1_000;
    expect((await ask(bearer(body.secret), 'GET', '/events')).code).toBe('credential_invalid');
    const [own] = (await ask(person.headers, 'GET', '/api-keys')).body.items;
    expect(own.status).toBe('expired');
    const admin = personWith('admin');
    const forever = { ...asked, expires_at: null };
    expect((await ask(admin.headers, 'POST', '/api-keys', forever)).status).toBe(201);
  });

  it('should be refused to a key, and when there are too many', async () => {
    const { headers } = personWith('admin');
    const asked = { name: 'k', scopes: ['admin'] };
    const { secret } = (await ask(headers, 'POST', '/api-keys', asked)).body;
    expect((await ask(bearer(secret), 'POST', '/api-keys', asked)).code).toBe('session_required');
    for (let made = 1; made < API_KEYS_PER_USER_MAX; made += 1) {
      expect((await ask(headers, 'POST', '/api-keys', asked)).status).toBe(201);
    }
    expect((await ask(headers, 'POST', '/api-keys', asked)).code).toBe('bound_reached');
  });
});

describe('an API key near its end', () => {
  it('should be told so beside every answer, in time to make another', async () => {
    const endsAtMs = NOW_MS + API_KEY_ENDS_SOON_MS;
    const told = async (expiresAtMs: number | null) => {
      const headers = bearer(fixture.addKey(['admin'], expiresAtMs));
      const answer = await fixture.app.inject({ url: '/api/v2/auth/whoami', headers });
      return answer.headers['warning'];
    };
    expect(await told(endsAtMs)).toContain(new Date(endsAtMs).toISOString());
    expect(await told(endsAtMs + 1)).toBeUndefined();
    expect(await told(null)).toBeUndefined();
  });
});

describe('ending an API key', () => {
  const asked = { name: 'k', scopes: ['sensors:read'] };

  it('should be for its maker, and count at once', async () => {
    const [one, other] = [personWith('viewer'), personWith('viewer')];
    const { secret, key_id: id } = (await ask(one.headers, 'POST', '/api-keys', asked)).body;
    expect((await ask(other.headers, 'DELETE', `/api-keys/${id}`)).code).toBe('not_found');
    expect((await ask(bearer(secret), 'GET', '/sensors')).status).toBe(200);
    const ended = await ask(one.headers, 'DELETE', `/api-keys/${id}`);
    expect(ended.body).toMatchObject({ key_id: id, status: 'revoked' });
    expect((await ask(bearer(secret), 'GET', '/sensors')).code).toBe('credential_invalid');
  });

  it('should be for a key by itself, and for no other', async () => {
    const { headers } = personWith('viewer');
    const first = (await ask(headers, 'POST', '/api-keys', asked)).body;
    const second = (await ask(headers, 'POST', '/api-keys', asked)).body;
    const by = bearer(first.secret);
    const seen = (await ask(by, 'GET', '/api-keys')).body.items;
    expect(seen.map((row: { key_id: string }) => row.key_id).sort()).toEqual(
      [first.key_id, second.key_id].sort(),
    );
    const refused = await ask(by, 'DELETE', `/api-keys/${second.key_id}`);
    expect(refused.code).toBe('session_required');
    expect((await ask(by, 'DELETE', `/api-keys/${first.key_id}`)).status).toBe(200);
    expect((await ask(by, 'GET', '/api-keys')).code).toBe('credential_invalid');
  });

  it('should come with the end of its maker', async () => {
    const { headers, userId } = personWith('viewer');
    const { secret } = (await ask(headers, 'POST', '/api-keys', asked)).body;
    const user = fixture.state.users.get(userId);
    if (user === undefined) throw new Error('the maker is gone');
    fixture.state.users.set(userId, { ...user, status: 'disabled' });
    expect((await ask(bearer(secret), 'GET', '/sensors')).code).toBe('credential_invalid');
    fixture.state.users.delete(userId);
    expect((await ask(bearer(secret), 'GET', '/sensors')).code).toBe('credential_invalid');
  });

  it('should be for whoever manages users, for the keys of all', async () => {
    const [one, admin] = [personWith('operator'), personWith('admin')];
    const { secret, key_id: id } = (await ask(one.headers, 'POST', '/api-keys', asked)).body;
    expect((await ask(one.headers, 'GET', '/all-api-keys')).code).toBe('role_required');
    expect((await ask(one.headers, 'DELETE', `/all-api-keys/${id}`)).code).toBe('role_required');
    await ask(admin.headers, 'POST', '/api-keys', asked);
    const first = (await ask(admin.headers, 'GET', '/all-api-keys?limit=1')).body;
    const rest = await ask(
      admin.headers,
      'GET',
      `/all-api-keys?limit=1&cursor=${first.next_cursor}`,
    );
    const ids = [...first.items, ...rest.body.items].map((row) => row.key_id);
    expect(ids).toContain(id);
    expect(new Set(ids).size).toBe(2);
    expect((await ask(admin.headers, 'DELETE', `/all-api-keys/${id}`)).status).toBe(200);
    expect((await ask(bearer(secret), 'GET', '/sensors')).code).toBe('credential_invalid');
    expect((await ask(admin.headers, 'DELETE', '/all-api-keys/none')).code).toBe('not_found');
  });

  it('should be possible for a key that the Console made itself', async () => {
    const own = bearer(fixture.addKey(['admin']));
    const { body } = await ask(own, 'GET', '/api-keys');
    expect(body).toMatchObject({ items: [{ user_id: null, status: 'usable' }], next_cursor: null });
    const [{ key_id: id }] = body.items;
    expect((await ask(own, 'DELETE', `/api-keys/${id}`)).body.status).toBe('revoked');
    expect((await ask(own, 'GET', '/api-keys')).code).toBe('credential_invalid');
  });
});
