// Attack 33, the small print of every answer: what it tells of the server, what a page of somebody else can begin, what a
// stranger learns of stores and routes, and who is held by a stranger's failures. decision: D69; invariant: I18
import { afterAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createFixture } from '../../gateway/operator-plane/plumbing/operator-plane.fixture.ts';
import {
  LOGIN_ACCOUNT_TRIES_FREE,
  LOGIN_KNOWN_SITE_MS,
} from '../../machines/console/access/limits.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { addPerson, createBrowser, PASSWORD } from './person.ts';

afterAll(removeSharedKeys);
const STRANGER = '192.0.2.7';
const HOME = '198.51.100.20';

describe('attack 33: the headers of every answer', () => {
  it('should forbid plain HTTP below this host, and everything a page could do with data', async () => {
    const console = await startConsole();
    const get = (path: string, headers: Record<string, string> = {}) =>
      console.ask(null, path, undefined, { method: 'GET', headers });
    const { secret } = await console.newKey(['admin']);
    const answers = [
      ...[await get('/livez'), await get('/no/such/thing'), await get('/api/v2/sensors')],
      ...[await get('/ca.pem'), await get('/'), await get('/install.sh')],
      await get('/api/v2/audit/export', { authorization: `Bearer ${secret}` }),
      await console.ask(null, '/sensors/heartbeat', '{'),
    ];
    const told = await get('/api/v2/sensors', { authorization: `Bearer ${secret}` });
    expect([told.status, told.headers['cache-control']]).toEqual([200, 'no-store']);
    for (const { headers } of [told, ...answers]) {
      expect(headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
      expect(String(headers['content-security-policy'])).toMatch(/default-src 'none'/);
      expect(String(headers['content-security-policy'])).toMatch(/frame-ancestors 'none'/);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['referrer-policy']).toBe('no-referrer');
      expect([headers['server'], headers['uwebsockets'], headers['x-powered-by']]).toEqual([
        ...[undefined, undefined, undefined],
      ]);
    }
    await console.stop();
  });

  it('should not tell the name of the server when a WebSocket opens', async () => {
    const console = await startConsole();
    const { cookie } = await console.newSession('viewer');
    const socket = new WebSocket(`wss://localhost:${console.port}/api/v2/live`, {
      ...{ ca: console.ca, origin: 'https://localhost:0', headers: { cookie } },
    });
    const headers = await new Promise<Record<string, unknown>>((resolve, reject) => {
      socket.once('upgrade', (answer) => resolve(answer.headers));
      socket.once('unexpected-response', (_request, answer) => resolve(answer.headers));
      socket.once('error', reject);
    });
    expect(headers['uwebsockets']).toBeUndefined();
    socket.close();
    await console.stop();
  });
});

describe('attack 33: what strangers learn', () => {
  it('should name stores and routes to who has logged in, and on this machine', async () => {
    const fixture = await createFixture();
    const get = async (url: string, remoteAddress: string, headers: Record<string, string> = {}) =>
      (await fixture.app.inject({ url, remoteAddress, headers })).statusCode;
    const authorization = `Bearer ${fixture.addKey(['sensors:read'])}`;
    for (const path of ['/readyz?verbose', '/api/v2/openapi.json']) {
      expect([path, await get(path, STRANGER)]).toEqual([path, 401]);
      expect([path, await get(path, STRANGER, { authorization })]).toEqual([path, 200]);
      for (const here of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
        expect([path, here, await get(path, here)]).toEqual([path, here, 200]);
      }
      // Behind a proxy on this machine everybody seems to be here.
      const told = { 'x-forwarded-for': STRANGER };
      expect([path, await get(path, '127.0.0.1', told)]).toEqual([path, 401]);
    }
    expect(await get('/readyz', STRANGER)).toBe(200);
    await fixture.close();
  });
});

describe('attack 33: a login that another site begins', () => {
  it('should not lead to a provider', async () => {
    const console = await startConsole();
    for (const site of ['cross-site', 'same-site']) {
      const answer = await console.ask(
        null,
        '/api/v2/auth/sso/start?provider=018f0000-0000-7000-8000-00000000ffff',
        undefined,
        { method: 'GET', headers: { 'sec-fetch-site': site } },
      );
      expect([answer.status, answer.body['code']]).toEqual([403, 'csrf_refused']);
    }
    await console.stop();
  });
});

describe("attack 33: a stranger's failures", () => {
  const loginFrom = async (
    console: Pick<ConsoleUnderTest, 'app'>,
    remoteAddress: string,
    email: string,
    password: string,
  ) => {
    const answer = await console.app.inject({
      ...{ method: 'POST', url: '/api/v2/auth/login', remoteAddress },
      payload: { email, password },
    });
    return answer.statusCode;
  };

  it('should not hold a site that logged in lately, nor give it more guesses', async () => {
    const console = await startConsole();
    const { email } = await addPerson(console, 'viewer');
    const from = (site: string, password = 'wrong') => loginFrom(console, site, email, password);
    expect(await from(HOME, PASSWORD)).toBe(200);
    let refused = 0;
    for (let at = 0; at < 40 && refused === 0; at += 1) {
      if ((await from(`203.0.113.${at}`)) === 429) refused += 1;
    }
    expect(refused).toBe(1);
    expect(await from(STRANGER, PASSWORD)).toBe(429);
    expect(await from(HOME, PASSWORD)).toBe(200);
    // Its own failures hold it all the same.
    for (let at = 0; at < LOGIN_ACCOUNT_TRIES_FREE; at += 1) expect(await from(HOME)).toBe(401);
    expect(await from(HOME, PASSWORD)).toBe(429);
    await console.stop();
  });

  it('should hold a site whose login is long ago, and one that never logged in', async () => {
    const console = await startConsole();
    const { email } = await addPerson(console, 'viewer');
    const from = (site: string, password = 'wrong') => loginFrom(console, site, email, password);
    expect(await from(HOME, PASSWORD)).toBe(200);
    console.travel(LOGIN_KNOWN_SITE_MS + 1);
    for (let at = 0; at < LOGIN_ACCOUNT_TRIES_FREE; at += 1) await from(`203.0.113.${at}`);
    expect(await from(HOME, PASSWORD)).toBe(429);
    await console.stop();
  });

  it('should keep what one person is told from what another did', async () => {
    const console = await startConsole();
    const [ann, bob] = [await addPerson(console, 'viewer'), await addPerson(console, 'viewer')];
    const browser = createBrowser(console);
    await browser.login(bob.email);
    for (let at = 0; at < LOGIN_ACCOUNT_TRIES_FREE; at += 1) {
      await loginFrom(console, STRANGER, ann.email, 'wrong');
    }
    // Bob logged in from here; that opens nothing for Ann's account.
    expect((await browser.login(ann.email)).status).toBe(429);
    await console.stop();
  });
});
