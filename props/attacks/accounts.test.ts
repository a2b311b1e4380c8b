// What an insider does with accounts, on the real listener: raises itself, makes admins with a small key, uses a link
// twice, takes the last admin away. decision: D36, D37; invariant: I2, I11, I18
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { RESET_LINK_TTL_MS } from '../../machines/limits.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { addPerson, createBrowser, PASSWORD } from './person.ts';

const running: ConsoleUnderTest[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) {
    expect(one.errors).toEqual([]);
    await one.stop();
  }
});
afterAll(removeSharedKeys);

const NEXT = 'quite another long secret';

async function opened() {
  const console = await startConsole();
  running.push(console);
  const admin = await addPerson(console, 'admin');
  const root = createBrowser(console);
  await root.login(admin.email);
  return { console, admin, root };
}

describe('attack 28: accounts', () => {
  it('should not be there before somebody made one', async () => {
    const console = await startConsole();
    running.push(console);
    for (const email of ['admin@localhost', 'admin@example.com', 'root@localhost']) {
      for (const password of ['admin', 'password', '', PASSWORD]) {
        const answer = await createBrowser(console).login(email, password);
        // Wrong, or not even looked at after so many.
        expect([401, 422, 429]).toContain(answer.status);
        expect(answer.headers['set-cookie']).toBeUndefined();
      }
    }
  });

  it('should keep their password however long ago it was set', async () => {
    const { console, admin } = await opened();
    console.travel(5 * 365 * 86_400_000);
    const late = await createBrowser(console).login(admin.email);
    expect(late).toMatchObject({ status: 200, body: { stage: 'full', needs: null } });
  });

  it('should be made, changed by revision, and removed with what is theirs', async () => {
    const { console, root } = await opened();
    const made = await root.post('/users', { email: 'New@example.test', role: 'analyst' });
    expect(made).toMatchObject({
      status: 201,
      body: { role: 'analyst', can_log_in_with_password: false, revision: 1, mfa_state: 'off' },
    });
    const path = `/users/${String(made.body['user_id'])}`;
    expect((await root.get('/users?email=new@EXAMPLE.test')).body['items']).toEqual([made.body]);
    const twice = await root.post('/users', { email: 'new@example.test', role: 'viewer' });
    expect(twice).toMatchObject({ status: 409, body: { code: 'email_taken' } });
    const patch = { revision: 1, display_name: 'N', tags: ['night'] };
    expect((await root.ask('PATCH', path, patch)).body).toMatchObject({
      revision: 2,
      tags: ['night'],
    });
    const late = await root.ask('PATCH', path, patch);
    expect(late).toMatchObject({ status: 409, body: { code: 'user_conflict' } });
    expect((await root.ask('DELETE', path)).status).toBe(200);
    expect((await root.get(path)).status).toBe(404);
    const bad = await root.post('/users', { email: 'no address', role: 'viewer' });
    expect(bad).toMatchObject({ status: 422, body: { code: 'schema_violation' } });
    const actions = (await console.audited()).map((one) => `${one.action} ${one.result}`);
    for (const told of ['user.create ok', 'user.create email_taken', 'user.change conflict']) {
      expect(actions).toContain(told);
    }
  });

  it('should be listed page after page', async () => {
    const { console, root } = await opened();
    for (const name of ['c', 'A', 'b']) await addPerson(console, 'viewer', `${name}@page.test`);
    const first = await root.get('/users?limit=2');
    const next = encodeURIComponent(String(first.body['next_cursor']));
    const second = await root.get(`/users?limit=2&cursor=${next}`);
    const emails = [first, second].flatMap((page) =>
      (page.body['items'] as { email: string }[]).map((one) => one.email),
    );
    expect(emails.slice(0, 2)).toEqual(['A@page.test', expect.stringMatching(/^admin|^b@/)]);
    expect(emails.length).toBe(4);
    expect(second.body['next_cursor']).toBeNull();
  });

  it('should always keep one admin', async () => {
    const { admin, root } = await opened();
    const path = `/users/${admin.userId}`;
    for (const patch of [{ role: 'operator' }, { status: 'disabled' }]) {
      const answer = await root.ask('PATCH', path, { revision: 1, ...patch });
      expect(answer).toMatchObject({ status: 409, body: { code: 'last_admin' } });
    }
    expect((await root.ask('DELETE', path)).body['code']).toBe('last_admin');
    expect((await root.get('/auth/session')).status).toBe(200);
  });

  it('should never be raised by a credential that holds less', async () => {
    const { console, admin, root } = await opened();
    const small = await console.newKey(['users:read', 'users:write']);
    const bearer = { authorization: `Bearer ${small.secret}` };
    const viewer = await addPerson(console, 'viewer');
    const ask = (method: string, path: string, body?: unknown) =>
      console.ask(null, `/api/v2${path}`, body, { method, headers: bearer });
    for (const [method, path, body] of [
      ['POST', '/users', { email: 'evil@example.test', role: 'admin' }],
      ['POST', '/users', { email: 'evil@example.test', role: 'operator' }],
      ['PATCH', `/users/${viewer.userId}`, { revision: 1, role: 'admin' }],
      ['POST', `/users/${admin.userId}/reset-link`, undefined],
      ['DELETE', `/users/${admin.userId}`, undefined],
      ['DELETE', `/users/${admin.userId}/sessions`, undefined],
    ] as const) {
      const answer = await ask(method, path, body);
      expect([method, path, answer.status]).toEqual([method, path, 403]);
      expect(answer.body['code']).toBe('role_required');
    }
    expect((await root.get('/auth/session')).status).toBe(200);
    const operator = await addPerson(console, 'operator');
    const browser = createBrowser(console);
    await browser.login(operator.email);
    const own = await browser.ask('PATCH', `/users/${operator.userId}`, {
      revision: 1,
      role: 'admin',
    });
    expect(own.status).toBe(403);
  });
});

describe('a link to set a password', () => {
  const linkOf = async (root: ReturnType<typeof createBrowser>, userId: string) =>
    String((await root.post(`/users/${userId}/reset-link`)).body['secret']);

  it('should work once, end every session, and open the account again', async () => {
    const { console, root } = await opened();
    const { userId, email } = await addPerson(console, 'viewer');
    const before = createBrowser(console);
    await before.login(email);
    const secret = await linkOf(root, userId);
    expect(secret).toMatch(/^svcl_[0-9A-Za-z]{49}$/);
    const anyone = createBrowser(console);
    const reset = (password: string, given = secret) =>
      anyone.post('/auth/reset', { secret: given, password });
    for (const bad of ['short', 'password1234', `${email}`]) {
      expect((await reset(bad)).body['code']).toBe('password_refused');
    }
    const answers = await Promise.all([reset(NEXT), reset(NEXT), reset(NEXT)]);
    expect(answers.map((one) => one.status).sort()).toEqual([200, 410, 410]);
    expect(anyone.cookie()).toBeNull();
    expect((await before.get('/auth/session')).status).toBe(401);
    expect((await before.login(email, PASSWORD)).status).toBe(401);
    expect((await before.login(email, NEXT)).status).toBe(200);
    const told = JSON.stringify(await console.audited());
    for (const hidden of [secret, NEXT, PASSWORD, '$cheap$']) expect(told).not.toContain(hidden);
  });

  it('should end with a newer one, with its hour, and with the password', async () => {
    const { console, root } = await opened();
    const { userId } = await addPerson(console, 'viewer');
    const reset = async (secret: string) =>
      (await createBrowser(console).post('/auth/reset', { secret, password: NEXT })).body['code'];
    const [older, newer] = [await linkOf(root, userId), await linkOf(root, userId)];
    expect(await reset(older)).toBe('reset_link_ended');
    console.travel(RESET_LINK_TTL_MS);
    expect(await reset(newer)).toBe('reset_link_ended');
    console.travel(-RESET_LINK_TTL_MS);
    for (const wrong of ['svcl_x', `svck_${'0'.repeat(49)}`, newer.slice(0, -1), `${newer}0`]) {
      expect(await reset(wrong)).toBe('reset_link_ended');
    }
    expect(await reset(newer)).toBeUndefined();
  });
});
