// Attack 32 where people come in through a provider: what somebody else did with the account is told after such a login, too,
// and an address is the same account however its provider writes it. decision: D40, D64; invariant: I18
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LOGIN_ACCOUNT_TRIES_FREE } from '../../machines/limits.ts';
import type { OidcPeer } from '../peers/oidc-peer.ts';
import { type ConsoleUnderTest, removeSharedKeys } from './console.fixture.ts';
import { addPerson, createBrowser } from './person.ts';
import { codeOfApp } from './person-with-app.ts';
import { codeOf, openSsoStage, SESSION, type SsoStage } from './sso-stage.ts';

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
  console = await stage.renew();
});
afterEach(() => console.stop());

const ADA = { email: 'Ada@Example.ORG', email_verified: true, groups: ['ops'], name: 'Ada' };
const KEY = 'ada@example.org';
const userOf = (email: string) => console.stores.relational.users.findByEmail(email);

/** Comes in through a provider; the session as a browser has it. */
async function enter(id: string) {
  const browser = stage.newBrowser();
  const page = await stage.logIn(browser, id);
  expect(page.status).toBe(303);
  const own = createBrowser(console);
  own.plant(browser.cookie('localhost:0', SESSION));
  return own;
}
const toldTo = async (own: ReturnType<typeof createBrowser>) =>
  (await own.get('/auth/last-login')).body['since_last_login'];

describe('attack 32: an account of a provider that somebody else used', () => {
  it('should tell it after the login, and the same thing as long as the session lasts', async () => {
    const id = await stage.setUp(peer);
    peer.logsIn('ada', ADA);
    const first = await enter(id);
    expect(await toldTo(first)).toMatchObject({
      ...{ last_login: null, failures: 0 },
      changes: [{ action: 'user.link_identity', by: `sso:${id}` }],
    });
    // A group that was taken away, and a guess at a password that is not there.
    peer.logsIn('ada', { ...ADA, groups: [] });
    expect(codeOf(await stage.logIn(stage.newBrowser(), id))).toEqual([403, 'sso_account_refused']);
    await createBrowser(console).login('ADA@example.org', 'a wrong guess');
    const root = createBrowser(console);
    const admin = await addPerson(console, 'admin');
    await root.login(admin.email);
    await root.post(`/users/${(await userOf(KEY))?.userId}/reset-link`);
    peer.logsIn('ada', ADA);
    const second = await enter(id);
    const told = await toldTo(second);
    expect(told).toMatchObject({
      ...{ last_login: { from: '127.0.0.1' }, failures: 2 },
      changes: [{ action: 'user.reset_link', by: `user:${admin.email}` }],
    });
    await createBrowser(console).login(KEY, 'another wrong guess');
    const third = await enter(id);
    expect(await toldTo(third)).toMatchObject({ failures: 1, changes: [] });
    // What came later is not what was before.
    expect(await toldTo(second)).toEqual(told);
    expect(await toldTo(first)).toMatchObject({ last_login: null, failures: 0 });
  });

  it('should count refusals of the person whose address the provider changed', async () => {
    const id = await stage.setUp(peer);
    peer.logsIn('ada', ADA);
    await enter(id);
    peer.logsIn('ada', { ...ADA, email: 'Married@Example.org', groups: [] });
    expect(codeOf(await stage.logIn(stage.newBrowser(), id))).toEqual([403, 'sso_account_refused']);
    peer.logsIn('ada', { ...ADA, email: 'Married@Example.org' });
    expect(await toldTo(await enter(id))).toMatchObject({ failures: 1 });
  });

  it('should tell it once the local factor was shown, and nothing before', async () => {
    await console.stop();
    console = await stage.renew(false);
    const id = await stage.setUp(peer);
    peer.logsIn('ada', ADA);
    const own = await enter(id);
    expect((await own.get('/auth/last-login')).status).toBe(403);
    const begun = await own.post('/auth/mfa/enroll', {});
    const secret = String(begun.body['secret']);
    await own.post('/auth/mfa/confirm', { code: codeOfApp(secret, console.time.now()) });
    console.travel(60_000);
    const again = await enter(id);
    const code = codeOfApp(secret, console.time.now());
    const whole = await again.post('/auth/mfa/verify', { code });
    expect(whole.body['since_last_login']).toMatchObject({ last_login: { from: '127.0.0.1' } });
    expect(await toldTo(again)).toEqual(whole.body['since_last_login']);
  });

  it('should tell nobody but the person whose session asks', async () => {
    const { secret } = await console.newKey(['admin']);
    const headers = { authorization: `Bearer ${secret}` };
    const at = { method: 'GET', headers };
    const answer = await console.ask(null, '/api/v2/auth/last-login', undefined, at);
    expect([401, 403]).toContain(answer.status);
    const { email } = await addPerson(console, 'viewer');
    const own = createBrowser(console);
    const login = await own.login(email);
    expect(await toldTo(own)).toEqual(login.body['since_last_login']);
  });
});

describe('attack 32: an address in other letters', () => {
  it('should be the account it is, for its owner and for who may not have it', async () => {
    await console.stores.relational.users.create({
      ...{ actor: 'test', nowMs: console.time.now(), userId: 'local-ada', passwordHash: null },
      ...{ email: KEY, displayName: 'Ada', role: 'viewer' },
    });
    const strange = await stage.setUp(peer);
    peer.logsIn('mallory', ADA);
    expect(codeOf(await stage.logIn(stage.newBrowser(), strange))).toEqual([
      ...[403, 'sso_account_refused'],
    ]);
    const trusted = await stage.setUp(stage.other, {
      ...{ link_domains: ['example.org'], domains: ['example.org'] },
      group_roles: { ops: 'viewer' },
    });
    stage.other.logsIn('ada', ADA);
    const own = await enter(trusted);
    expect((await own.get('/auth/session')).body['user']).toMatchObject({ user_id: 'local-ada' });
    const people = await console.stores.relational.users.list({ limit: 9, after: null });
    expect(people.map(({ email }) => email)).toEqual([KEY]);
    // What was refused before is told to her, as what happened to her account.
    expect(await toldTo(own)).toMatchObject({ last_login: null, failures: 1 });
    const refused = (await console.audited()).find((row) => row.result === 'sso_account_refused');
    expect(refused).toMatchObject({ target: KEY, actor: `sso:${strange}` });
  });

  it('should make one account, and share one count of wrong passwords', async () => {
    const id = await stage.setUp(peer);
    peer.logsIn('ada', ADA);
    await enter(id);
    const spellings = [KEY, 'ADA@EXAMPLE.ORG', 'Ada@Example.ORG', 'aDa@example.Org'];
    const answers: unknown[] = [];
    for (let at = 0; at <= LOGIN_ACCOUNT_TRIES_FREE; at += 1) {
      const email = spellings[at % spellings.length] ?? KEY;
      answers.push((await createBrowser(console).login(email, 'a wrong guess')).body['code']);
    }
    expect(answers.at(-1)).toBe('login_throttled');
    const root = createBrowser(console);
    await root.login((await addPerson(console, 'admin')).email);
    const twice = await root.post('/users', { email: KEY, role: 'viewer' });
    expect(twice.body['code']).toBe('email_taken');
  });
});
