// What is left of somebody else's use of an account: a browser keeps one session, sessions of a person are bounded, a
// reset takes the keys with it, and the next login tells what happened. decision: D64; invariant: I18
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAdminKeys } from '../../actors/access/admin-keys.ts';
import { systemChance } from '../../actors/trust/chance.ts';
import { API_KEY_TTL_DEFAULT_MS, API_KEYS_PER_USER_MAX } from '../../machines/limits.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { addPerson, createBrowser, PASSWORD } from './person.ts';
import { codeOfApp, createPersonWithApp, sessionIn } from './person-with-app.ts';

let console: ConsoleUnderTest;
beforeEach(async () => {
  console = await startConsole();
});
afterEach(() => console.stop());
afterAll(removeSharedKeys);

const NEXT = 'quite another long secret';

describe('attack 32: what is left behind in a browser', () => {
  it('should be no session: another login ends the one it had, whosever it was', async () => {
    const [ann, bob] = [await addPerson(console, 'viewer'), await addPerson(console, 'viewer')];
    const browser = createBrowser(console);
    await browser.login(ann.email);
    const left = browser.cookie();
    const other = createBrowser(console);
    await other.login(ann.email);
    await browser.login(bob.email, 'wrong password');
    expect(browser.cookie()).toBe(left);
    await browser.login(bob.email);
    const thief = createBrowser(console);
    thief.plant(left);
    expect((await thief.get('/auth/session')).status).toBe(401);
    expect((await other.get('/auth/session')).status).toBe(200);
    expect((await browser.get('/auth/session')).status).toBe(200);
  });
});

describe('attack 32: who comes after somebody else', () => {
  it('should hear at login when the account was used, what failed, and what changed by whom', async () => {
    const person = await createPersonWithApp(console, 'viewer');
    const { email, userId } = person;
    const first = await createBrowser(console).login(email);
    expect(first.body['since_last_login']).toEqual({ last_login: null, failures: 0, changes: [] });
    const attacker = createBrowser(console);
    for (const wrong of ['first wrong guess', 'second wrong guess']) {
      await attacker.login(email.toUpperCase(), wrong);
    }
    const root = createBrowser(console);
    const admin = await addPerson(console, 'admin');
    await root.login(admin.email);
    await root.post(`/users/${userId}/reset-link`);
    const second = await createBrowser(console).login(email);
    expect(second.body['since_last_login']).toMatchObject({
      last_login: { from: '127.0.0.1' },
      failures: 2,
      changes: [{ action: 'user.reset_link', by: `user:${admin.email}` }],
    });
    // Whoever has the session left open guesses there, and makes a key.
    const left = createBrowser(console);
    await left.login(email);
    await left.post('/auth/reauthenticate', { password: 'third wrong guess' });
    const change = { current_password: 'fourth wrong guess', new_password: NEXT };
    await left.post('/auth/password', change);
    await left.post('/api-keys', { name: 'backdoor', scopes: ['sensors:read'] });
    const before = await createBrowser(console).login(email);
    expect(before.body['since_last_login']).toMatchObject({
      failures: 2,
      changes: [{ action: 'api_key.create', by: `user:${email}` }],
    });
    const third = await createBrowser(console).login(email);
    expect(third.body['since_last_login']).toMatchObject({ failures: 0, changes: [] });
  });

  it('should hear it only when the login is whole, wrong codes among it', async () => {
    const person = await createPersonWithApp(console, 'viewer');
    const { secret } = await person.enroll((await person.login()).session);
    const guessed = await person.login();
    await person.call(guessed.session, '/auth/mfa/verify', { code: '000000' });
    const half = await person.call(null, '/auth/login', {
      ...{ email: person.email, password: PASSWORD },
    });
    expect(half.body).toMatchObject({ stage: 'partial', since_last_login: null });
    console.travel(60_000);
    const code = codeOfApp(secret, console.time.now());
    const whole = await person.call(sessionIn(half), '/auth/mfa/verify', { code });
    expect(whole.body['since_last_login']).toMatchObject({
      failures: 1,
      changes: [{ action: 'mfa.enable', by: `user:${person.email}` }],
    });
  });
});

describe('attack 32: keys that somebody made with a stolen password', () => {
  async function reset(more: Record<string, unknown> = {}) {
    const { userId, email } = await addPerson(console, 'viewer');
    const thief = createBrowser(console);
    await thief.login(email);
    const made = await thief.post('/api-keys', { name: 'backdoor', scopes: ['sensors:read'] });
    const root = createBrowser(console);
    await root.login((await addPerson(console, 'admin')).email);
    const link = await root.post(`/users/${userId}/reset-link`);
    const answer = await createBrowser(console).post('/auth/reset', {
      ...{ secret: link.body['secret'], password: NEXT, ...more },
    });
    const headers = { authorization: `Bearer ${String(made.body['secret'])}` };
    const { status } = await console.ask(null, '/api/v2/sensors', undefined, {
      ...{ method: 'GET', headers },
    });
    return { answer: answer.body, keyId: made.body['key_id'], status };
  }

  it('should end with a reset, which lists them', async () => {
    const { answer, keyId, status } = await reset();
    expect(status).toBe(401);
    expect(answer['api_keys']).toEqual([{ key_id: keyId, name: 'backdoor', status: 'revoked' }]);
  });

  it('should stay only when whoever resets says so', async () => {
    const { answer, status } = await reset({ keep_api_keys: true });
    expect(status).toBe(200);
    expect(answer['api_keys']).toMatchObject([{ status: 'usable' }]);
  });

  it.each([false, true])(
    'should be listed when made at the last instant (kept: %s)',
    async (keeps) => {
      const { userId, email } = await addPerson(console, 'viewer');
      const thief = createBrowser(console);
      await thief.login(email);
      const root = createBrowser(console);
      await root.login((await addPerson(console, 'admin')).email);
      const link = await root.post(`/users/${userId}/reset-link`);
      const { passwordLinks } = console.stores.relational;
      const useLink = passwordLinks.useLink.bind(passwordLinks);
      const used = vi.spyOn(passwordLinks, 'useLink').mockImplementation(async (input) => {
        await thief.post('/api-keys', { name: 'backdoor', scopes: ['sensors:read'] });
        return useLink(input);
      });
      const answer = await createBrowser(console).post('/auth/reset', {
        ...{ secret: link.body['secret'], password: NEXT, keep_api_keys: keeps },
      });
      used.mockRestore();
      const status = keeps ? 'usable' : 'revoked';
      expect(answer.body['api_keys']).toMatchObject([{ name: 'backdoor', status }]);
    },
  );

  it('should be of somebody and end, also the key of a quick start', async () => {
    const { relational } = console.stores;
    const { userId } = await addPerson(console, 'admin');
    const keys = createAdminKeys(relational.apiKeys, {
      now: console.time.now,
      chance: systemChance,
    });
    const { secret: old } = await console.newKey(['admin']);
    expect(await keys.isGoodKey(old)).toBe(false);
    const of = { ownerId: userId, replaces: old };
    const secret = (await keys.createAdminKey('quick-start', of)) ?? '';
    expect(await keys.isGoodKey(secret)).toBe(true);
    const [own] = await relational.apiKeys.list({ userId, limit: 1, before: null });
    expect(own?.expiresAtMs).toBeLessThanOrEqual(console.time.now() + API_KEY_TTL_DEFAULT_MS);
    const all = await relational.apiKeys.list({ limit: 9, before: null });
    expect(all.filter(({ revokedAtMs }) => revokedAtMs === null)).toEqual([own]);
    // Bounded like everybody's; what was not made is not told as if it were.
    const more = { ownerId: userId, replaces: null };
    for (let count = 1; count < API_KEYS_PER_USER_MAX; count += 1) {
      expect(await keys.createAdminKey('quick-start', more)).not.toBeNull();
    }
    expect(await keys.createAdminKey('quick-start', more)).toBeNull();
    console.travel(API_KEY_TTL_DEFAULT_MS - 3_600_000);
    expect(await keys.isGoodKey(secret)).toBe(false);
  });
});
