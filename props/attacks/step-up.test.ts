// Attack 31: a password somebody else knows, an account without a second factor, a session left open. Each gets as far as
// making itself whole and no further. decision: D63; invariant: I18
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FIRST_ADMIN_EMAIL, provideFirstAdmin } from '../../actors/access/first-admin.ts';
import { FRESH_LOGIN_MS } from '../../machines/console/access/limits.ts';
import { needOfLogin } from '../../machines/console/access/second-factor.rules.ts';
import { ROLES } from '../../machines/trust/roles.rules.ts';
import { createCheapHasher } from '../../storage/memory/access/password-hasher.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { addPerson, createBrowser, PASSWORD } from './person.ts';
import { codeOfApp, createPersonWithApp } from './person-with-app.ts';

let console: ConsoleUnderTest;
beforeEach(async () => {
  console = await startConsole({ isEvaluation: false });
});
afterEach(() => console.stop());
afterAll(removeSharedKeys);

const OWN = 'a password of my own making';

async function firstAdmin() {
  const { users } = console.stores.relational;
  const made = await provideFirstAdmin({
    users,
    hasher: createCheapHasher(),
    now: console.time.now,
  });
  return { email: FIRST_ADMIN_EMAIL, password: made?.password ?? '' };
}

describe('attack 31: what a login lacks', () => {
  it('should be asked in one order: the factor it has, its own password, a factor at all', () => {
    const login = { method: 'password', role: 'admin', requiredRoles: ['admin'] } as const;
    const next = (state: 'on' | 'off', stage: 'partial' | 'full', mustChangePassword: boolean) =>
      needOfLogin({ ...login, state, stage, mustChangePassword });
    expect(next('on', 'partial', true)).toBe('totp');
    expect(next('on', 'full', true)).toBe('password_change');
    expect(next('on', 'full', false)).toBeNull();
    for (const stage of ['partial', 'full'] as const) {
      expect(next('off', stage, true)).toBe('password_change');
      expect(next('off', stage, false)).toBe('totp_enrollment');
    }
  });
});

describe('attack 31: a second factor', () => {
  it.each(ROLES)('should be asked of %s by default, when it may change something', async (role) => {
    const { email } = await addPerson(console, role);
    const needs = (await createBrowser(console).login(email)).body['needs'];
    const isAsked = ['sensor_owner', 'operator', 'admin'].includes(role);
    expect(needs).toBe(isAsked ? 'totp_enrollment' : null);
  });
});

describe('attack 31: an initial password', () => {
  it('should be good for setting another, then for the second factor, and for nothing else', async () => {
    const { email, password } = await firstAdmin();
    const browser = createBrowser(console);
    const login = await browser.login(email, password);
    expect(login.body).toMatchObject({ stage: 'partial', needs: 'password_change' });
    for (const [method, path, body] of [
      ['GET', '/sensors', undefined],
      ['GET', '/auth/sessions', undefined],
      ['POST', '/api-keys', { name: 'k', scopes: ['admin'] }],
      ['POST', '/auth/mfa/enroll', {}],
      ['POST', '/auth/mfa/confirm', { code: '000000' }],
      ['POST', '/auth/reauthenticate', { password }],
    ] as const) {
      const answer = await browser.ask(method, path, body);
      expect([path, answer.body['code']]).toEqual([path, 'password_change_required']);
    }
    const change = (next: string) =>
      browser.post('/auth/password', { current_password: password, new_password: next });
    expect((await change(password)).body['code']).toBe('password_refused');
    expect((await change(OWN)).body).toMatchObject({ stage: 'partial', needs: 'totp_enrollment' });
    expect((await browser.get('/sensors')).body['code']).toBe('second_factor_required');
    const begun = await browser.post('/auth/mfa/enroll', {});
    const code = codeOfApp(String(begun.body['secret']), console.time.now());
    const on = await browser.post('/auth/mfa/confirm', { code });
    expect(on.body).toMatchObject({
      stage: 'full',
      needs: null,
      since_last_login: { failures: 0 },
    });
    expect((await browser.get('/sensors')).status).toBe(200);
    expect((await createBrowser(console).login(email, password)).status).toBe(401);
  });

  it('should be changed by nobody who has not shown the second factor', async () => {
    const person = await createPersonWithApp(console, 'viewer');
    const { secret } = await person.enroll((await person.login()).session);
    const half = await person.login();
    const early = await person.call(half.session, '/auth/password', {
      ...{ current_password: PASSWORD, new_password: OWN },
    });
    expect(early.body['code']).toBe('second_factor_required');
    console.travel(60_000);
    const code = codeOfApp(secret, console.time.now());
    const whole = await person.call(half.session, '/auth/mfa/verify', { code });
    expect(whole.body).toMatchObject({ stage: 'full', needs: null });
  });

  it('should leave keys alone, which nobody types', async () => {
    const { email } = await firstAdmin();
    const user = await console.stores.relational.users.findByEmail(email);
    const { secret } = await console.newKey(['sensors:read'], null, user?.userId);
    const headers = { authorization: `Bearer ${secret}` };
    const answer = await console.ask(null, '/api/v2/sensors', undefined, {
      method: 'GET',
      headers,
    });
    expect(answer.status).toBe(200);
  });
});

describe('attack 31: a session that was left open', () => {
  it('should make no admin, link, key without end, provider or weaker setting', async () => {
    const person = await createPersonWithApp(console, 'admin');
    const enrolled = await person.enroll((await person.login()).session);
    const victim = await addPerson(console, 'operator');
    const users = `/users/${victim.userId}`;
    const provider = {
      ...{ kind: 'oidc', name: 'E', issuer: 'https://sso.example.org', client_id: 'c' },
      client_secret: 's',
    };
    const idle = { values: { session_idle_minutes: 30 }, revisions: { session_idle_minutes: 0 } };
    const asked = [
      ['POST', '/users', { email: 'new@example.test', role: 'admin' }, 201],
      ['PATCH', users, { revision: 1, role: 'admin' }, 200],
      ['POST', `${users}/reset-link`, undefined, 201],
      ['DELETE', `${users}/mfa`, undefined, 409],
      ['POST', '/api-keys', { name: 'k', scopes: ['admin'], expires_at: null }, 201],
      ['POST', '/sso-providers', provider, 201],
      ['PATCH', '/settings', idle, 200],
    ] as const;
    console.travel(FRESH_LOGIN_MS);
    for (const [method, path, body] of asked) {
      const answer = await person.call(enrolled.session, path, body, method);
      expect([path, answer.body['code']]).toEqual([path, 'fresh_login_required']);
    }
    const plain = { email: 'viewer@example.test', role: 'viewer' };
    expect((await person.call(enrolled.session, '/users', plain)).status).toBe(201);
    const again = (given: Record<string, string>) =>
      person.call(enrolled.session, '/auth/reauthenticate', given);
    const code = codeOfApp(enrolled.secret, console.time.now());
    expect((await again({ password: 'wrong password', code })).status).toBe(401);
    expect((await again({ password: PASSWORD, code: '000000' })).status).toBe(403);
    const fresh = await again({ password: PASSWORD, code });
    expect(fresh.body).toMatchObject({ stage: 'full', needs: null });
    const browser = createBrowser(console);
    browser.plant(
      /__Host-service_session=([\w-]+)/.exec(String(fresh.headers['set-cookie']))?.[1] ?? '',
    );
    for (const [method, path, body, status] of asked) {
      expect([path, (await browser.ask(method, path, body)).status]).toEqual([path, status]);
    }
    // The secret that was left open is dead.
    expect((await person.call(enrolled.session, '/auth/session')).status).toBe(401);
  });

  it('should put no app before the account once its role needs a factor, without the password', async () => {
    const person = await createPersonWithApp(console, 'viewer');
    const [left, kept] = [await person.login(), await person.login()];
    const values = { mfa_required_roles: [...ROLES] };
    const revisions = { mfa_required_roles: 0 };
    await console.settings.change({ actor: 'test', values, revisions });
    const enroll = (session: string, body: Record<string, string>) =>
      person.call(session, '/auth/mfa/enroll', body);
    expect((await enroll(kept.session, { password: 'a wrong password' })).status).toBe(401);
    expect((await enroll(kept.session, { password: PASSWORD })).status).toBe(200);
    const refused = await enroll(left.session, {});
    expect(refused.body['code']).toBe('credential_invalid');
    // Nothing is left to do in it but to log in again.
    expect((await person.call(left.session, '/auth/session')).status).toBe(401);
    expect((await enroll((await person.login()).session, {})).status).toBe(200);
  });
});
