// What an attacker does with sessions and logins, on the real listener: fixes one before the login, keeps an old one,
// sends requests from another site, guesses many passwords at one instant, and asks which accounts exist.
// decision: D37; invariant: I11, I18
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import {
  LOGIN_ACCOUNT_TRIES_FREE,
  LOGIN_DELAY_MAX_MS,
  SESSION_ABSOLUTE_MS,
  SESSION_IDLE_MS,
} from '../../machines/limits.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { addPerson, COOKIE, createBrowser, PASSWORD, setCookieOf } from './person.ts';
import { openStores, type Stores } from './stores.fixture.ts';

const running: ConsoleUnderTest[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) {
    expect(one.errors).toEqual([]);
    await one.stop();
  }
});
afterAll(removeSharedKeys);

async function openConsole(given?: Stores) {
  const console = await startConsole(given === undefined ? {} : { stores: given });
  running.push(console);
  return console;
}
async function loggedIn(console: ConsoleUnderTest, email: string) {
  const browser = createBrowser(console);
  expect((await browser.login(email)).status).toBe(200);
  return browser;
}

describe('attack 27: a session', () => {
  it('should never be the one that an attacker planted before the login', async () => {
    const console = await openConsole();
    const { email } = await addPerson(console, 'viewer');
    const planted = 'A'.repeat(43);
    const victim = createBrowser(console);
    victim.plant(planted);
    expect((await victim.login(email)).status).toBe(200);
    expect(victim.cookie()).toMatch(/^[0-9A-Za-z_-]{43}$/);
    expect(victim.cookie()).not.toBe(planted);
    const attacker = createBrowser(console);
    attacker.plant(planted);
    expect((await attacker.get('/auth/session')).status).toBe(401);
    // An attacker's own session is not turned into the victim's either.
    const other = await addPerson(console, 'viewer');
    const lent = (await loggedIn(console, other.email)).cookie();
    victim.plant(lent);
    await victim.login(email);
    expect(victim.cookie()).not.toBe(lent);
    attacker.plant(lent);
    expect((await attacker.get('/auth/session')).status).toBe(401);
  });

  it('should be carried by a cookie that no script and no other site can use', async () => {
    const console = await openConsole();
    const { email } = await addPerson(console, 'viewer');
    const answer = await createBrowser(console).login(email);
    expect(setCookieOf(answer)?.attributes).toEqual([
      'httponly',
      'path=/',
      'samesite=lax',
      'secure',
    ]);
    expect(JSON.stringify(answer.body)).not.toContain(setCookieOf(answer)?.value);
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it('should get a new id with a new password, and the old ids be dead', async () => {
    const console = await openConsole();
    const { email } = await addPerson(console, 'analyst');
    const [browser, elsewhere] = [await loggedIn(console, email), await loggedIn(console, email)];
    const old = browser.cookie();
    const next = { current_password: PASSWORD, new_password: 'an even longer secret' };
    const wrong = { ...next, current_password: 'not it at all' };
    expect((await browser.post('/auth/password', wrong)).status).toBe(401);
    expect((await browser.post('/auth/password', next)).status).toBe(200);
    expect(browser.cookie()).not.toBe(old);
    expect((await browser.get('/auth/session')).status).toBe(200);
    expect((await elsewhere.get('/auth/session')).status).toBe(401);
    elsewhere.plant(old);
    expect((await elsewhere.get('/auth/session')).status).toBe(401);
    expect((await elsewhere.login(email)).status).toBe(401);
    expect((await elsewhere.login(email, next.new_password)).status).toBe(200);
  });

  it('should end at once: by logout, by name, by another role, by disabling', async () => {
    const console = await openConsole();
    const root = await loggedIn(console, (await addPerson(console, 'admin')).email);
    const { userId, email } = await addPerson(console, 'operator');
    const [here, there] = [await loggedIn(console, email), await loggedIn(console, email)];
    const kept = here.cookie();
    const list = (await here.get('/auth/sessions')).body['items'] as Record<string, unknown>[];
    expect(list.map((one) => one['is_current']).sort()).toEqual([false, true]);
    const other = list.find((one) => one['is_current'] === false);
    const ended = await here.ask('DELETE', `/auth/sessions/${String(other?.['session_id'])}`);
    expect(ended.status).toBe(200);
    expect((await there.get('/auth/session')).status).toBe(401);
    expect((await here.post('/auth/logout')).body).toEqual({ ended: 1 });
    expect(here.cookie()).toBeNull();
    here.plant(kept);
    expect((await here.get('/auth/session')).status).toBe(401);
    let revision = 1;
    for (const patch of [{ role: 'analyst' }, { status: 'disabled' }]) {
      const again = await loggedIn(console, email);
      const changed = await root.ask('PATCH', `/users/${userId}`, { revision, ...patch });
      expect(changed.status).toBe(200);
      revision += 1;
      expect((await again.get('/auth/session')).status).toBe(401);
    }
    expect((await createBrowser(console).login(email)).status).toBe(401);
  });

  it('should end by itself when nobody uses it, and for good', async () => {
    const console = await openConsole();
    const { email } = await addPerson(console, 'viewer');
    const browser = await loggedIn(console, email);
    const value = browser.cookie();
    console.travel(SESSION_IDLE_MS - 60_000);
    expect((await browser.get('/auth/session')).status).toBe(200);
    console.travel(SESSION_IDLE_MS - 60_000);
    expect((await browser.get('/auth/session')).status).toBe(200);
    console.travel(SESSION_IDLE_MS);
    browser.plant(value);
    expect((await browser.get('/auth/session')).status).toBe(401);
    console.travel(-SESSION_IDLE_MS);
  });

  it('should end with its lifetime, however busy it is', async () => {
    const console = await openConsole();
    const { email } = await addPerson(console, 'viewer');
    const browser = await loggedIn(console, email);
    const value = browser.cookie();
    const stepMs = SESSION_IDLE_MS / 2;
    for (let passedMs = stepMs; passedMs < SESSION_ABSOLUTE_MS; passedMs += stepMs) {
      console.travel(stepMs);
      expect((await browser.get('/auth/session')).status).toBe(200);
    }
    console.travel(stepMs);
    browser.plant(value);
    expect((await browser.get('/auth/session')).status).toBe(401);
    console.travel(-SESSION_ABSOLUTE_MS);
  });

  it('should end everywhere but where its person says so, and no session of anybody else', async () => {
    const console = await openConsole();
    const { email } = await addPerson(console, 'viewer');
    const stranger = await loggedIn(console, (await addPerson(console, 'viewer')).email);
    const here = await loggedIn(console, email);
    const others = [await loggedIn(console, email), await loggedIn(console, email)];
    expect((await here.post('/auth/sessions/end-others')).body).toEqual({ ended: 2 });
    for (const one of others) expect((await one.get('/auth/session')).status).toBe(401);
    for (const one of [here, stranger]) {
      expect((await one.get('/auth/session')).status).toBe(200);
    }
    expect((await here.post('/auth/sessions/end-others')).body).toEqual({ ended: 0 });
  });

  it('should survive the absence of the database, and be refused with 503 meanwhile', async () => {
    const stores = await openStores();
    const console = await openConsole(stores);
    const { email } = await addPerson(console, 'viewer');
    const browser = await loggedIn(console, email);
    await stores.relational.setAway(true);
    for (const answer of [
      await browser.get('/auth/session'),
      await browser.get('/sensors'),
      await createBrowser(console).login(email),
    ]) {
      expect(answer).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    await stores.relational.setAway(false);
    expect((await browser.get('/auth/session')).body['user']).toMatchObject({ email });
    expect((await browser.get('/sensors')).status).toBe(200);
  });
});

describe('a request of another site', () => {
  it('should change nothing, whatever it says about itself', async () => {
    const console = await openConsole();
    const { email } = await addPerson(console, 'admin');
    const browser = await loggedIn(console, email);
    const body = { email: 'evil@example.test', role: 'admin' };
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { 'x-service-csrf': '' },
      { 'x-service-csrf': '0' },
      { 'sec-fetch-site': '', origin: 'https://evil.example' },
    ]) {
      const answer = await browser.ask('POST', '/users', body, headers);
      expect(answer).toMatchObject({ status: 403, body: { code: 'csrf_refused' } });
    }
    expect((await browser.get('/users?email=evil@example.test')).body['items']).toEqual([]);
    const bare = { cookie: `${COOKIE}=${browser.cookie()}`, 'x-service-csrf': '1' };
    const without = await console.ask(null, '/api/v2/users', body, { headers: bare });
    expect(without.status).toBe(403);
    const foreign = { ...bare, origin: 'null' };
    expect((await console.ask(null, '/api/v2/users', body, { headers: foreign })).status).toBe(403);
  });
});

describe('a login that a page of another site begins', () => {
  it('should give no session, while programs and own pages get one', async () => {
    const console = await openConsole();
    const { email } = await addPerson(console, 'viewer');
    const login = (headers: Record<string, string>) =>
      console.ask(null, '/api/v2/auth/login', { email, password: PASSWORD }, { headers });
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': '' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ] as Record<string, string>[]) {
      const answer = await login(headers);
      expect(answer).toMatchObject({ status: 403, body: { code: 'csrf_refused' } });
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
    const own = [{}, { origin: 'https://localhost:0' }, { 'sec-fetch-site': 'same-origin' }];
    for (const headers of own as Record<string, string>[]) {
      expect((await login(headers)).status).toBe(200);
    }
  });
});

describe('guessed passwords', () => {
  it('should be judged a few times only, however many come at one instant', async () => {
    const console = await openConsole();
    const { email } = await addPerson(console, 'viewer');
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        createBrowser(console).login(index % 2 ? email : email.toUpperCase(), `guess-${index}`),
      ),
    );
    const codes = answers.map((one) => String(one.body['code']));
    expect(codes.filter((one) => one === 'credentials_refused').length).toBe(
      LOGIN_ACCOUNT_TRIES_FREE,
    );
    const throttled = answers.filter((one) => one.body['code'] === 'login_throttled');
    expect(throttled.length).toBe(60 - LOGIN_ACCOUNT_TRIES_FREE);
    for (const one of throttled) {
      expect(one.status).toBe(429);
      expect(Number(one.headers['retry-after'])).toBeGreaterThan(0);
    }
    // Whoever knows the password waits as well, and gets in by waiting: nothing is closed for good.
    expect((await createBrowser(console).login(email)).status).toBe(429);
    console.travel(LOGIN_DELAY_MAX_MS);
    expect((await createBrowser(console).login(email)).status).toBe(200);
    expect((await createBrowser(console).login(email, 'wrong again')).status).toBe(401);
  });

  it('should not tell which accounts exist', async () => {
    const console = await openConsole();
    const root = await loggedIn(console, (await addPerson(console, 'admin')).email);
    const known = await addPerson(console, 'viewer');
    const disabled = await addPerson(console, 'viewer');
    const patch = { revision: 1, status: 'disabled' };
    await root.ask('PATCH', `/users/${disabled.userId}`, patch);
    const made = { email: 'no-password@example.test', role: 'viewer' };
    expect((await root.post('/users', made)).status).toBe(201);
    const tries: [string, string][] = [
      [known.email, 'wrong'],
      [disabled.email, PASSWORD],
      ['nobody@example.test', PASSWORD],
      [made.email, PASSWORD],
    ];
    const strip = ({ request_id: _, ...body }: Record<string, unknown>) => body;
    const shapes = [];
    for (const [email, password] of tries) {
      const seen = [];
      for (let round = 0; round <= LOGIN_ACCOUNT_TRIES_FREE; round += 1) {
        const { status, body, headers } = await createBrowser(console).login(email, password);
        seen.push([status, strip(body), headers['set-cookie']]);
      }
      shapes.push(seen);
      // The site is counted too; a day later it is free again.
      console.travel(86_400_000);
    }
    for (const shape of shapes.slice(1)) expect(shape).toEqual(shapes[0]);
    expect(shapes[0]?.at(-1)?.[0]).toBe(429);
    const refused = (await console.audited()).filter(
      (one) => one.action === 'user.login' && one.result !== 'ok',
    );
    expect(refused.length).toBe(tries.length * (LOGIN_ACCOUNT_TRIES_FREE + 1));
    expect(JSON.stringify(refused)).not.toContain(PASSWORD);
    expect(refused[0]).toMatchObject({ actor: 'anonymous', from: '127.0.0.1' });
  });

  it('should stop at the site as well, whatever accounts they are for', async () => {
    const console = await openConsole();
    let judged = 0;
    for (let index = 0; index < 30; index += 1) {
      const answer = await createBrowser(console).login(`p${index}@example.test`, 'Winter2026!');
      if (answer.status === 401) judged += 1;
    }
    expect(judged).toBe(20);
  });
});
