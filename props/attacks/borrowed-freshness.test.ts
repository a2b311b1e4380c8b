// Attack 34: what asks for credentials shown lately, reached by who has an open session and not all of them: by a key made
// in it, by the password alone, by a provider that still knows the browser, by letting an admin in again. decision: D63;
// invariant: I18
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FRESH_LOGIN_MS } from '../../machines/console/access/limits.ts';
import { authenticatedAtIn } from '../../machines/console/access/sso-login.rules.ts';
import type { OidcPeer } from '../peers/oidc-peer.ts';
import { type ConsoleUnderTest, removeSharedKeys } from './console.fixture.ts';
import { addPerson, createBrowser, PASSWORD } from './person.ts';
import { codeOfApp, createPersonWithApp, sessionIn } from './person-with-app.ts';
import { ANN, openSsoStage, SESSION, type SsoStage, startOf } from './sso-stage.ts';

let stage: SsoStage;
let peer: OidcPeer;
let console: ConsoleUnderTest;
beforeAll(async () => {
  stage = await openSsoStage();
  ({ peer } = stage);
});
afterAll(async () => {
  await stage.close();
  await removeSharedKeys();
});
beforeEach(async () => {
  console = await stage.renew(false);
});
afterEach(() => console.stop());

async function openAdmin() {
  const person = await createPersonWithApp(console, 'admin');
  const enrolled = await person.enroll((await person.login()).session);
  console.travel(FRESH_LOGIN_MS);
  return { person, ...enrolled };
}
const NEW_ADMIN = { email: 'new@example.test', role: 'admin' };

describe('attack 34: an open session', () => {
  it('should make no key, which would show no credentials ever again', async () => {
    const { person, session, secret } = await openAdmin();
    const asked = { name: 'k', scopes: ['users:write', 'users:read'] };
    const refused = await person.call(session, '/api-keys', asked);
    expect(refused.body['code']).toBe('fresh_login_required');
    const code = codeOfApp(secret, console.time.now());
    const again = await person.call(session, '/auth/reauthenticate', { password: PASSWORD, code });
    expect((await person.call(sessionIn(again), '/api-keys', asked)).status).toBe(201);
  });

  it('should not be fresh by the password alone, where there is a second factor', async () => {
    const { person, session } = await openAdmin();
    const change = { current_password: PASSWORD, new_password: 'another long secret of mine' };
    const changed = await person.call(session, '/auth/password', change);
    expect(changed.body).toMatchObject({ stage: 'full', needs: null });
    const refused = await person.call(sessionIn(changed), '/users', NEW_ADMIN);
    expect(refused.body['code']).toBe('fresh_login_required');
  });

  it('should be fresh by the password where that is all there is', async () => {
    const { email } = await addPerson(console, 'viewer');
    const browser = createBrowser(console);
    await browser.login(email);
    console.travel(FRESH_LOGIN_MS);
    const key = { name: 'k', scopes: ['events:read'] };
    expect((await browser.post('/api-keys', key)).body['code']).toBe('fresh_login_required');
    const change = { current_password: PASSWORD, new_password: 'another long secret of mine' };
    expect((await browser.post('/auth/password', change)).status).toBe(200);
    expect((await browser.post('/api-keys', key)).status).toBe(201);
  });

  it('should let no disabled admin in again', async () => {
    const { person, session } = await openAdmin();
    const { userId } = await addPerson(console, 'admin');
    const at = `/users/${userId}`;
    const off = await person.call(session, at, { revision: 1, status: 'disabled' }, 'PATCH');
    expect(off.body).toMatchObject({ status: 'disabled', revision: 2 });
    const on = await person.call(session, at, { revision: 2, status: 'active' }, 'PATCH');
    expect(on.body['code']).toBe('fresh_login_required');
  });
});

describe('attack 34: a provider that knows the browser', () => {
  const proven = { group_roles: { ops: 'admin' }, required_amr: ['mfa'] };
  async function enter(claims: Record<string, unknown>) {
    const id = await stage.setUp(peer, proven);
    peer.logsIn(`ann-${id}`, { ...ANN, email: `ann-${id}@example.org` });
    peer.does.token = (told) => ({ ...told, amr: ['mfa'], auth_time: undefined, ...claims });
    const browser = stage.newBrowser();
    await stage.logIn(browser, id);
    const own = createBrowser(console);
    own.plant(browser.cookie('localhost:0', SESSION));
    expect((await own.get('/auth/session')).body).toMatchObject({ stage: 'full', needs: null });
    return { own, id };
  }

  it('should give no fresh session unless it says that credentials were shown just now', async () => {
    const nowSeconds = Math.floor(console.time.now() / 1_000);
    for (const [claims, status] of [
      [{}, 403],
      [{ auth_time: nowSeconds - FRESH_LOGIN_MS / 1_000 }, 403],
      [{ auth_time: nowSeconds - 1 }, 201],
    ] as const) {
      const { own } = await enter(claims);
      const made = await own.post('/users', NEW_ADMIN);
      expect([claims, made.status]).toEqual([claims, status]);
    }
  });

  it('should be told to ask for them, and stay as old as it said for ever', async () => {
    const { id, own } = await enter({ auth_time: Math.floor(console.time.now() / 1_000) });
    const page = await stage.newBrowser().open(startOf(id, '&fresh=true'));
    const sent = new URL(page.location ?? '').searchParams;
    expect([sent.get('prompt'), sent.get('max_age')]).toEqual(['login', '0']);
    console.travel(FRESH_LOGIN_MS);
    const refused = await own.post('/users', NEW_ADMIN);
    expect(refused.body['code']).toBe('fresh_login_required');
    expect((await own.post('/auth/reauthenticate', {})).body['code']).toBe('fresh_login_required');
  });

  it('should not be from the future, nor from before there was time', () => {
    expect(authenticatedAtIn({ auth_time: 9e12 }, 1_000)).toBe(1_000);
    expect(authenticatedAtIn({ auth_time: -5 }, 1_000)).toBe(0);
    for (const odd of [NaN, Infinity, 0.5, '1', null]) {
      expect(authenticatedAtIn({ auth_time: odd }, 1_000)).toBe(0);
    }
  });
});

describe('attack 34: an account of a provider with a password of its own', () => {
  it('should not be left without a way on when it changes that', async () => {
    const id = await stage.setUp(peer, {
      ...{ group_roles: { ops: 'operator' }, required_amr: ['mfa'] },
      link_domains: ['example.org'],
    });
    const { email } = await addPerson(console, 'operator', 'ann@example.org');
    expect(email).toBe('ann@example.org');
    peer.does.token = (told) => ({ ...told, amr: ['mfa'] });
    const browser = stage.newBrowser();
    await stage.logIn(browser, id);
    const own = createBrowser(console);
    own.plant(browser.cookie('localhost:0', SESSION));
    const change = { current_password: PASSWORD, new_password: 'another long secret of mine' };
    const changed = await own.post('/auth/password', change);
    expect(changed.body).toMatchObject({ stage: 'full', needs: null });
    expect((await own.get('/sensors')).status).toBe(200);
  });
});
