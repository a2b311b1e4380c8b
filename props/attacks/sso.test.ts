// Attack 27, logins through identity providers: what a stolen, replayed, mixed-up or forged answer of a provider gets out
// of a Console. A real provider over TLS, a small browser, the real listener. decision: D40; invariant: I18
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SSO_FLOW_TTL_MS } from '../../machines/limits.ts';
import type { SsoOptions } from '../../storage/ports/access/sso-store.ts';
import type { Browser, Page } from '../peers/browser.ts';
import type { Claims, OidcPeer } from '../peers/oidc-peer.ts';
import { type ConsoleUnderTest, removeSharedKeys } from './console.fixture.ts';
import { ANN, BASE, codeOf, openSsoStage, SESSION, type SsoStage, startOf } from './sso-stage.ts';

let stage: SsoStage;
let peer: OidcPeer;
let other: OidcPeer;
let console: ConsoleUnderTest;

beforeAll(async () => {
  stage = await openSsoStage();
  ({ peer, other } = stage);
});
afterAll(async () => {
  await stage.close();
  await removeSharedKeys();
});
beforeEach(async () => {
  console = await stage.renew();
});
afterEach(() => console.stop());

const LOGIN_REFUSED = [403, 'sso_login_refused'];
const ANSWER_REFUSED = [403, 'sso_answer_refused'];
const userOf = (email: string) => console.stores.relational.users.findByEmail(email);

function expectNoSession(browser: Browser, page: Page): void {
  expect(page.headers['set-cookie'] ?? []).toEqual([]);
  expect(browser.cookie('localhost:0', SESSION)).toBeNull();
}

describe('attack 27: a login through a provider', () => {
  it('should make an account with its mapped role, and a session that may do what the role may', async () => {
    const id = await stage.setUp(peer);
    const browser = stage.newBrowser();
    const page = await stage.logIn(browser, id, '&return_to=%2Fsensors%3Fa%3D1');
    expect([page.status, page.location]).toEqual([303, `${BASE}/sensors?a=1`]);
    const cookies = [page.headers['set-cookie']].flat().join('\n');
    expect(cookies).toMatch(
      /__Host-service_session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax/,
    );
    expect(await stage.isAlive(browser.cookie('localhost:0', SESSION) ?? '')).toBe(true);
    const user = await userOf('ann@example.org');
    expect(user).toMatchObject({ role: 'operator', displayName: 'Ann', passwordHash: null });
    const [session] = await console.stores.relational.sessions.listOf(user?.userId ?? '', 0);
    expect(session).toMatchObject({ method: `sso:${id}`, stage: 'full' });
    const actions = (await console.audited()).map((row) => row.action);
    for (const action of [
      'sso_provider.create',
      'user.create',
      'user.link_identity',
      'user.login',
    ]) {
      expect(actions).toContain(action);
    }
    expect(browser.cookie('localhost:0', '__Host-service_sso')).toBeNull();
  });

  it('should give a new session each time, and end the one the browser had', async () => {
    const id = await stage.setUp(peer);
    const browser = stage.newBrowser();
    await stage.logIn(browser, id);
    const first = browser.cookie('localhost:0', SESSION) ?? '';
    await stage.logIn(browser, id);
    const second = browser.cookie('localhost:0', SESSION) ?? '';
    expect(second).not.toBe(first);
    expect([await stage.isAlive(first), await stage.isAlive(second)]).toEqual([false, true]);
  });

  it('should not take over a session id that somebody planted', async () => {
    const id = await stage.setUp(peer);
    const browser = stage.newBrowser();
    const planted = randomBytes(32).toString('base64url');
    browser.setCookie('localhost:0', SESSION, planted);
    expect((await stage.logIn(browser, id)).status).toBe(303);
    expect(browser.cookie('localhost:0', SESSION)).not.toBe(planted);
    expect(await stage.isAlive(planted)).toBe(false);
  });

  it('should follow the role of the provider at every login and end the sessions of the old one', async () => {
    const id = await stage.setUp(peer, { group_roles: { ops: 'operator', all: 'viewer' } });
    const [first, second] = [stage.newBrowser(), stage.newBrowser()];
    await stage.logIn(first, id);
    const before = first.cookie('localhost:0', SESSION) ?? '';
    peer.logsIn('ann', { ...ANN, groups: ['all'] });
    expect((await stage.logIn(second, id)).status).toBe(303);
    expect(await userOf('ann@example.org')).toMatchObject({ role: 'viewer' });
    expect(await stage.isAlive(before)).toBe(false);
    expect(await stage.isAlive(second.cookie('localhost:0', SESSION) ?? '')).toBe(true);
    peer.logsIn('ann', { ...ANN, groups: [] });
    expect(codeOf(await stage.logIn(stage.newBrowser(), id))).toEqual([403, 'sso_account_refused']);
  });

  it('should lead nowhere but into this Console', async () => {
    const id = await stage.setUp(peer);
    for (const evil of [
      '//evil.example/',
      'https://evil.example/',
      '/\\evil.example',
      'javascript:1',
    ]) {
      const page = await stage.logIn(
        stage.newBrowser(),
        id,
        `&return_to=${encodeURIComponent(evil)}`,
      );
      expect([page.status, page.location]).toEqual([303, `${BASE}/`]);
    }
  });
});

describe('attack 27: an answer that does not belong to the login', () => {
  it('should be refused with the state of another browser', async () => {
    const id = await stage.setUp(peer);
    const [attacker, victim] = [stage.newBrowser(), stage.newBrowser()];
    const theirs = await stage.comeBack(attacker, id);
    const page = await victim.open(theirs.href);
    expect(codeOf(page)).toEqual(LOGIN_REFUSED);
    expectNoSession(victim, page);
    // A browser that began a login of its own is not the one that began this one.
    const again = await stage.comeBack(attacker, id);
    await stage.comeBack(victim, id);
    expect(codeOf(await victim.open(again.href))).toEqual(LOGIN_REFUSED);
  });

  it('should be refused with a state that nobody gave out, none, or two', async () => {
    const id = await stage.setUp(peer);
    const browser = stage.newBrowser();
    const answer = await stage.comeBack(browser, id);
    for (const change of [
      (url: URL) => url.searchParams.set('state', randomBytes(32).toString('base64url')),
      (url: URL) => url.searchParams.delete('state'),
      (url: URL) => url.searchParams.append('state', randomBytes(32).toString('base64url')),
      (url: URL) => url.searchParams.set('state', "' OR 1=1 --"),
    ]) {
      const url = new URL(answer);
      change(url);
      expect([403, 422]).toContain((await browser.open(url.href)).status);
    }
    expect((await browser.open(answer.href)).status).toBe(303);
  });

  it('should be refused a second time, also when both come at once', async () => {
    const id = await stage.setUp(peer);
    const browser = stage.newBrowser();
    const answer = await stage.comeBack(browser, id);
    const both = await Promise.all(Array.from({ length: 8 }, () => browser.open(answer.href)));
    expect(both.filter(({ status }) => status === 303).length).toBe(1);
    expect(codeOf(await browser.open(answer.href))).toEqual(LOGIN_REFUSED);
  });

  it('should be refused when it comes too late', async () => {
    const id = await stage.setUp(peer);
    const browser = stage.newBrowser();
    const answer = await stage.comeBack(browser, id);
    console.travel(SSO_FLOW_TTL_MS);
    expect(codeOf(await browser.open(answer.href))).toEqual(LOGIN_REFUSED);
  });

  it('should be refused with the code of another login, which was made for another challenge', async () => {
    const id = await stage.setUp(peer);
    const [attacker, victim] = [stage.newBrowser(), stage.newBrowser()];
    const stolen = (await stage.comeBack(victim, id)).searchParams.get('code') ?? '';
    const own = await stage.comeBack(attacker, id);
    own.searchParams.set('code', stolen);
    const page = await attacker.open(own.href);
    expect(codeOf(page)).toEqual(ANSWER_REFUSED);
    expectNoSession(attacker, page);
  });

  it('should be refused from another provider, whether it names itself or not', async () => {
    const [id, otherId] = [await stage.setUp(peer), await stage.setUp(other)];
    for (const change of [
      () => undefined,
      (url: URL) => url.searchParams.delete('iss'),
      (url: URL) => url.searchParams.set('iss', peer.issuer),
    ]) {
      const browser = stage.newBrowser();
      const [mine, foreign] = [
        await stage.comeBack(browser, id),
        await stage.comeBack(browser, otherId),
      ];
      foreign.searchParams.set('state', mine.searchParams.get('state') ?? '');
      change(foreign);
      foreign.pathname = mine.pathname;
      const page = await browser.open(foreign.href);
      expect(codeOf(page)).toEqual(ANSWER_REFUSED);
      expectNoSession(browser, page);
    }
  });

  it('should be refused by the way back of another provider, and use the login up', async () => {
    const [id, otherId] = [await stage.setUp(peer), await stage.setUp(other)];
    const browser = stage.newBrowser();
    const own = await stage.comeBack(browser, id);
    const [right, wrong] = [own.href, own.href.replace(id, otherId)];
    expect(wrong).not.toBe(right);
    for (const href of [wrong, right]) {
      const page = await browser.open(href);
      expect(codeOf(page)).toEqual(LOGIN_REFUSED);
      expectNoSession(browser, page);
    }
    expect((await browser.open(right.replace(`/${id}`, ''))).status).toBe(404);
  });

  it('should be refused when the provider or the person said no', async () => {
    const id = await stage.setUp(peer);
    const browser = stage.newBrowser();
    const answer = await stage.comeBack(browser, id);
    answer.searchParams.delete('code');
    answer.searchParams.set('error', 'access_denied');
    expect(codeOf(await browser.open(answer.href))).toEqual(ANSWER_REFUSED);
  });
});

describe('attack 27: a token that is not for this login', () => {
  const now = () => Math.floor(Date.now() / 1_000);
  const TOKENS: Readonly<Record<string, (claims: Claims) => Claims>> = {
    'of another issuer': (claims) => ({ ...claims, iss: 'https://evil.example' }),
    'with another nonce': (claims) => ({ ...claims, nonce: 'replayed' }),
    'that has expired': (claims) => ({ ...claims, exp: now() - 120 }),
  };
  async function expectRefused(token: (claims: Claims) => Claims): Promise<void> {
    const id = await stage.setUp(peer);
    peer.does.token = token;
    const browser = stage.newBrowser();
    const page = await stage.logIn(browser, id);
    expect(codeOf(page)).toEqual(ANSWER_REFUSED);
    expectNoSession(browser, page);
    expect(await userOf('ann@example.org')).toBeNull();
    const [told] = await console.audited();
    expect(told).toMatchObject({ action: 'user.login', result: 'sso_answer_refused' });
  }
  for (const [what, token] of Object.entries(TOKENS)) {
    it(`should be refused ${what}`, () => expectRefused(token));
  }

  it('should be refused when it is meant for another audience', async () => {
    await expectRefused((claims) => ({ ...claims, aud: 'other' }));
  });

  it('should be refused with a nonce that an earlier login of the same browser had', async () => {
    const id = await stage.setUp(peer);
    const browser = stage.newBrowser();
    let nonce: unknown = null;
    peer.does.token = (claims) => {
      nonce ??= claims['nonce'];
      return { ...claims, nonce };
    };
    expect((await stage.logIn(browser, id)).status).toBe(303);
    expect(codeOf(await stage.logIn(browser, id))).toEqual(ANSWER_REFUSED);
  });

  it('should be refused when another key signed it, and taken when the provider changed its keys', async () => {
    const id = await stage.setUp(peer);
    peer.does.signsWithOtherKey = true;
    expect(codeOf(await stage.logIn(stage.newBrowser(), id))).toEqual(ANSWER_REFUSED);
    peer.does.signsWithOtherKey = false;
    expect((await stage.logIn(stage.newBrowser(), id)).status).toBe(303);
    peer.rotateKeys();
    expect((await stage.logIn(stage.newBrowser(), id)).status).toBe(303);
  });
});

describe('attack 27: somebody who claims the address of somebody else', () => {
  const EMAIL_REFUSED = [403, 'sso_email_refused'];
  const ACCOUNT_REFUSED = [403, 'sso_account_refused'];
  const makeAnn = () =>
    console.stores.relational.users.create({
      ...{ actor: 'test', nowMs: console.time.now(), userId: 'local-ann', passwordHash: null },
      ...{ email: 'ann@example.org', displayName: 'Ann', role: 'admin' },
    });
  const unverified: readonly Claims[] = [
    { ...ANN, email_verified: false },
    { ...ANN, email_verified: 'true' },
    { email: 'ann@example.org', groups: ['ops'] },
    { groups: ['ops'] },
  ];

  it('should neither get nor make an account without a verified address', async () => {
    const trusting = { link_domains: ['example.org'] };
    const id = await stage.setUp(peer, trusting);
    for (const claims of unverified) {
      peer.logsIn('mallory', claims);
      expect(codeOf(await stage.logIn(stage.newBrowser(), id))).toEqual(EMAIL_REFUSED);
    }
    expect(await userOf('ann@example.org')).toBeNull();
    await makeAnn();
    for (const claims of unverified) {
      peer.logsIn('mallory', claims);
      expect(codeOf(await stage.logIn(stage.newBrowser(), id))).toEqual(EMAIL_REFUSED);
    }
  });

  it('should not get an account that exists from a provider that is not trusted for its domain', async () => {
    const id = await stage.setUp(peer, { link_domains: ['example.com'] });
    await makeAnn();
    expect(codeOf(await stage.logIn(stage.newBrowser(), id))).toEqual(ACCOUNT_REFUSED);
    expect(await console.stores.relational.sso.identitiesOf('local-ann')).toEqual([]);
  });

  it('should get it when the address is verified and the domain trusted, and have it by subject then', async () => {
    const id = await stage.setUp(peer, {
      link_domains: ['example.org'],
      group_roles: { ops: 'admin' },
    });
    await makeAnn();
    expect((await stage.logIn(stage.newBrowser(), id)).status).toBe(303);
    const subjects = [{ providerId: id, subject: 'ann' }];
    expect(await console.stores.relational.sso.identitiesOf('local-ann')).toEqual(subjects);
    // The address may change now, or not be verified any more: the person is the subject.
    peer.logsIn('ann', { ...ANN, email: 'new@example.org', email_verified: false });
    expect((await stage.logIn(stage.newBrowser(), id)).status).toBe(303);
    // Another subject with the old address is somebody else, and the account has its owner.
    const options: Partial<SsoOptions> = { linkDomains: [] };
    const [provider] = await console.stores.relational.sso.listProviders();
    if (provider === undefined) throw new Error('no provider');
    await console.stores.relational.sso.changeProvider({
      ...{ actor: 'test', nowMs: 0, providerId: id, revision: provider.revision },
      patch: { options: { ...provider.options, ...options } },
    });
    peer.logsIn('mallory', ANN);
    expect(codeOf(await stage.logIn(stage.newBrowser(), id))).toEqual(ACCOUNT_REFUSED);
  });

  it('should not come from a domain that is not allowed, nor into a disabled account', async () => {
    const id = await stage.setUp(peer, { domains: ['example.com'] });
    expect(codeOf(await stage.logIn(stage.newBrowser(), id))).toEqual(EMAIL_REFUSED);
    const open = await stage.setUp(other);
    other.logsIn('ann', ANN);
    expect((await stage.logIn(stage.newBrowser(), open)).status).toBe(303);
    const user = await userOf('ann@example.org');
    if (user === null) throw new Error('no user');
    const { userId, revision } = user;
    await console.stores.relational.users.change({
      ...{ actor: 'test', nowMs: 0, userId, revision, patch: { status: 'disabled' } },
    });
    expect(codeOf(await stage.logIn(stage.newBrowser(), open))).toEqual(ACCOUNT_REFUSED);
  });

  it('should make one account when the first login comes twice at once', async () => {
    const id = await stage.setUp(peer);
    const pages = await Promise.all(
      Array.from({ length: 4 }, () => stage.logIn(stage.newBrowser(), id)),
    );
    expect(pages.map(({ status }) => status)).toEqual([303, 303, 303, 303]);
    const users = await console.stores.relational.users.list({ limit: 10, after: null });
    expect(users.length).toBe(1);
  });
});

describe('a provider that is away', () => {
  it('should be told in bounded time, while others work', async () => {
    const [id, otherId] = [await stage.setUp(peer), await stage.setUp(other)];
    peer.does.answers = 'nothing';
    // Nothing ever comes from there: that there is an answer shows that the Console gave up by itself.
    const [page, fine] = await Promise.all([
      stage.newBrowser().open(startOf(id)),
      stage.logIn(stage.newBrowser(), otherId),
    ]);
    expect(codeOf(page)).toEqual([503, 'sso_provider_unavailable']);
    expect(page.headers['retry-after']).toBeDefined();
    expect(fine.status).toBe(303);
    peer.does.answers = 'as it should';
    peer.logsIn('bob', { ...ANN, email: 'bob@example.org' });
    expect((await stage.logIn(stage.newBrowser(), id)).status).toBe(303);
  });

  it('should be told when it goes between the way there and the way back', async () => {
    const id = await stage.setUp(peer);
    const browser = stage.newBrowser();
    const answer = await stage.comeBack(browser, id);
    peer.does.answers = 'a failure';
    expect(codeOf(await browser.open(answer.href))).toEqual([503, 'sso_provider_unavailable']);
    expectNoSession(browser, await browser.open(answer.href));
  });

  it('should not matter once it is disabled, nor when it was removed', async () => {
    const id = await stage.setUp(peer);
    const browser = stage.newBrowser();
    const answer = await stage.comeBack(browser, id);
    const off = await stage.call('PATCH', `/sso-providers/${id}`, {
      revision: 1,
      is_enabled: false,
    });
    expect(off.status).toBe(200);
    expect(codeOf(await browser.open(answer.href))).toEqual(LOGIN_REFUSED);
    expect((await stage.newBrowser().open(startOf(id))).status).toBe(404);
    expect((await stage.call('DELETE', `/sso-providers/${id}`)).status).toBe(204);
    expect((await stage.call('GET', `/sso-providers/${id}`)).status).toBe(404);
  });
});
