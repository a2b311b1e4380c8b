// Attack 37: who plants a way into a small account, and waits until somebody raises it. With the raise everything ends that
// was set up on the account before: password, second factor, keys and sessions. decision: D169; invariant: I18
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { givesMore } from '../../machines/console/access/account.rules.ts';
import { ROLE_SCOPES, ROLES, type Role } from '../../machines/trust/roles.rules.ts';
import type { OidcPeer } from '../peers/oidc-peer.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { addPerson, createBrowser, PASSWORD } from './person.ts';
import { codeOfApp } from './person-with-app.ts';
import { ANN, openSsoStage, SESSION, type SsoStage } from './sso-stage.ts';

let console: ConsoleUnderTest;
afterAll(removeSharedKeys);

const PLANTED = 'a password of the planter';
const OWN = 'a password of the person alone';
const CUT = [...ROLE_SCOPES.viewer, 'users:write'] as const;

/** Asks with a key. */
async function askWith(secret: string, method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${secret}` };
  return console.ask(null, `/api/v2${path}`, body, { method, headers });
}

/** Sets a password through a link that somebody with a cut key made. */
async function plant(userId: string): Promise<void> {
  const { secret } = await console.newKey(CUT);
  const link = await askWith(secret, 'POST', `/users/${userId}/reset-link`);
  const given = { secret: link.body['secret'], password: PLANTED };
  expect((await createBrowser(console).post('/auth/reset', given)).status).toBe(200);
}

/** All that somebody with a password can set up on an account. */
async function settleIn(email: string) {
  const browser = createBrowser(console);
  await browser.login(email, PLANTED);
  const key = await browser.post('/api-keys', { name: 'mine', scopes: ['sensors:read'] });
  const begun = await browser.post('/auth/mfa/enroll', { password: PLANTED });
  const code = codeOfApp(String(begun.body['secret']), console.time.now());
  const on = await browser.post('/auth/mfa/confirm', { code });
  expect([key.status, on.status]).toEqual([201, 200]);
  return {
    browser,
    key: String(key.body['secret']),
    codes: on.body['recovery_codes'] as readonly string[],
  };
}

describe('attack 37: a password that was planted in a small account', () => {
  beforeEach(async () => {
    console = await startConsole();
  });
  afterEach(() => console.stop());

  async function raise(userId: string, role: Role) {
    const root = createBrowser(console);
    await root.login((await addPerson(console, 'admin')).email);
    const { revision } = (await root.get(`/users/${userId}`)).body;
    return { root, answer: await root.ask('PATCH', `/users/${userId}`, { revision, role }) };
  }

  it.each(['operator', 'admin'] as const)(
    'should be worth nothing when the account becomes %s, nor what was set up with it',
    async (role) => {
      const { userId, email } = await addPerson(console, 'viewer');
      await plant(userId);
      const planted = await settleIn(email);
      const { root, answer } = await raise(userId, role);
      expect(answer).toMatchObject({
        status: 200,
        body: { role, can_log_in_with_password: false, mfa_state: 'off', credentials_ended: true },
      });
      expect((await planted.browser.get('/auth/session')).status).toBe(401);
      expect((await askWith(planted.key, 'GET', '/sensors')).status).toBe(401);
      for (const password of [PLANTED, PASSWORD]) {
        expect((await createBrowser(console).login(email, password)).status).toBe(401);
      }
      expect(await console.stores.relational.recoveryCodes.recoveryCodesLeft(userId)).toBe(0);
      // Whoever raised hands out the next way in.
      const link = await root.post(`/users/${userId}/reset-link`);
      const given = { secret: link.body['secret'], password: OWN };
      const person = createBrowser(console);
      expect((await person.post('/auth/reset', given)).body['api_keys']).toEqual([]);
      const entered = await person.login(email, OWN);
      expect(entered.body).toMatchObject({ stage: 'full', user: { role } });
      const [told] = (await console.audited()).filter(
        (row) => row.action === 'user.change' && row.target === userId,
      );
      expect(told).toMatchObject({
        after: { role },
        detail: { credentials_ended: true, sessions_ended: 1, api_keys_revoked: 1 },
      });
    },
  );

  it('should not come in by half a login that waits for the raise', async () => {
    const { userId, email } = await addPerson(console, 'viewer');
    await plant(userId);
    const { codes } = await settleIn(email);
    const half = createBrowser(console);
    expect((await half.login(email, PLANTED)).body['needs']).toBe('totp');
    await raise(userId, 'admin');
    expect((await half.post('/auth/mfa/verify', { code: codes[0] })).status).toBe(401);
  });

  it('should be left alone by every change that gives no more', async () => {
    for (const from of ROLES) {
      for (const to of ROLES) {
        const isMore = ROLE_SCOPES[to].some((one) => !ROLE_SCOPES[from].includes(one));
        expect([from, to, givesMore(from, to)]).toEqual([from, to, isMore]);
        if (from === to) continue;
        const { userId, email } = await addPerson(console, from);
        const { answer } = await raise(userId, to);
        expect([from, to, answer.body['credentials_ended']]).toEqual([from, to, isMore]);
        const { status } = await createBrowser(console).login(email);
        expect([from, to, status]).toEqual([from, to, isMore ? 401 : 200]);
      }
    }
  });
});

describe('attack 37: an account of a provider', () => {
  let stage: SsoStage;
  let peer: OidcPeer;
  beforeAll(async () => {
    stage = await openSsoStage();
    ({ peer } = stage);
  });
  afterAll(() => stage.close());
  beforeEach(async () => {
    console = await stage.renew();
  });
  afterEach(() => console.stop());

  it('should lose a planted password when its groups give more, and let its person in', async () => {
    const id = await stage.setUp(peer, { group_roles: { ops: 'admin', all: 'viewer' } });
    peer.logsIn('ann', { ...ANN, groups: ['all'] });
    await stage.logIn(stage.newBrowser(), id);
    const ann = await console.stores.relational.users.findByEmail('ann@example.org');
    await plant(ann?.userId ?? '');
    const planted = await settleIn('ann@example.org');
    peer.logsIn('ann', ANN);
    const browser = stage.newBrowser();
    expect((await stage.logIn(browser, id)).status).toBe(303);
    const own = createBrowser(console);
    own.plant(browser.cookie('localhost:0', SESSION));
    expect((await own.get('/auth/session')).body).toMatchObject({
      ...{ stage: 'full', user: { role: 'admin', can_log_in_with_password: false } },
    });
    expect((await createBrowser(console).login('ann@example.org', PLANTED)).status).toBe(401);
    expect((await planted.browser.get('/auth/session')).status).toBe(401);
    expect((await askWith(planted.key, 'GET', '/sensors')).status).toBe(401);
  });

  it('should be of no provider that somebody without the rights of an admin made', async () => {
    // Such a provider would keep the account after it was raised by hand.
    const { secret } = await console.newKey([...ROLE_SCOPES.viewer, 'sso:write']);
    const made = await askWith(secret, 'POST', '/sso-providers', {
      ...{ kind: 'oidc', name: 'Planted', issuer: peer.issuer, client_id: 'c', client_secret: 's' },
      options: { ca_pem: peer.caPem, groups_claim: null, default_role: 'viewer' },
    });
    expect(made).toMatchObject({ status: 403, body: { code: 'role_required' } });
  });
});
