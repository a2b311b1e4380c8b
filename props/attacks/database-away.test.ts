// Attack 20, the database of operators: while it is away every route that needs to know its caller says so, with a time,
// and opens nothing; a session that was there before is there afterwards. The reference stores behind the real listener;
// PostgreSQL itself is stopped and frozen in props/journeys/database-away.services.test.ts. invariant: I18
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createFixture,
  type Fixture,
} from '../../gateway/operator-plane/plumbing/operator-plane.fixture.ts';
import type { Route } from '../../gateway/operator-plane/plumbing/route-table.ts';
import { slackOf } from '../yardstick.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { addPerson, COOKIE, createBrowser } from './person.ts';
import { openStores, type Stores } from './stores.fixture.ts';

const ANSWER_WITHIN_MS = 1_000;
const SOMETHING = '00000000-0000-4000-8000-000000000000';
const bodyOf = (method: string) => (method === 'GET' || method === 'HEAD' ? undefined : {});

/** Every route whose caller must be known, as the program declares them. */
async function guardedRoutes(): Promise<readonly Route[]> {
  const fixture: Fixture = await createFixture();
  const routes = fixture.app.routeTable.routes.filter(
    ({ guard, method }) => guard !== undefined && !('public' in guard) && method !== 'HEAD',
  );
  await fixture.close();
  return routes;
}

describe('attack 20: the database of operators is away', () => {
  let stores: Stores;
  let console: ConsoleUnderTest;

  beforeAll(async () => {
    stores = await openStores();
  });

  beforeEach(async () => {
    console = await startConsole({ stores });
  });
  afterEach(() => console.stop());
  afterAll(removeSharedKeys);

  it('should answer 503 with a time at every guarded route, to sessions and keys, soon', async () => {
    const { email } = await addPerson(console, 'admin');
    const browser = createBrowser(console);
    expect((await browser.login(email)).status).toBe(200);
    const cookie = browser.cookie();
    const { secret } = await console.newKey(['admin']);
    const routes = await guardedRoutes();
    expect(routes.length).toBeGreaterThan(60);
    const withinMs = ANSWER_WITHIN_MS + (await slackOf(() => browser.get('/auth/session')));
    await stores.relational.setAway(true);
    const wrong: unknown[] = [];
    const own = { 'sec-fetch-site': 'same-origin', 'x-service-csrf': '1' };
    for (const { method, url } of routes) {
      const path = url.replaceAll(/:\w+/g, SOMETHING).replace('*', 'x');
      for (const credential of [
        { cookie: `${COOKIE}=${cookie}` },
        { authorization: `Bearer ${secret}` },
      ]) {
        const headers = { ...own, ...credential };
        const startedMs = performance.now();
        const answer = await console.ask(null, path, bodyOf(method), { method, headers });
        const tookMs = performance.now() - startedMs;
        const { status, body } = answer;
        const isRight =
          status === 503 &&
          body['code'] === 'store_unavailable' &&
          String(answer.headers['content-type']).startsWith('application/problem+json') &&
          Number(answer.headers['retry-after']) > 0 &&
          tookMs < withinMs;
        if (!isRight) wrong.push([method, url, status, body['code'], answer.headers, tookMs]);
      }
    }
    await stores.relational.setAway(false);
    expect(wrong).toEqual([]);
    expect(browser.cookie()).toBe(cookie);
    expect((await browser.get('/auth/session')).body['user']).toMatchObject({ email });
  });

  it('should begin no session and take none away, whatever is asked meanwhile', async () => {
    const { email, userId } = await addPerson(console, 'admin');
    const [kept, leaving] = [createBrowser(console), createBrowser(console)];
    for (const one of [kept, leaving]) expect((await one.login(email)).status).toBe(200);
    const before = await stores.relational.sessions.listOf(userId, console.time.now());
    await stores.relational.setAway(true);
    for (const answer of [
      await leaving.post('/auth/logout'),
      await createBrowser(console).login(email),
      await createBrowser(console).login(email, 'a wrong one'),
      await createBrowser(console).post('/auth/reset', { token: 'x', password: 'y' }),
    ]) {
      expect(answer.status).not.toBe(200);
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
    await stores.relational.setAway(false);
    const ids = (rows: typeof before) => rows.map(({ sessionId }) => sessionId);
    const after = await stores.relational.sessions.listOf(userId, console.time.now());
    expect(ids(after)).toEqual(ids(before));
    for (const one of [kept, leaving]) expect((await one.get('/sensors')).status).toBe(200);
    // The failures of that time were not counted against the person either.
    expect((await createBrowser(console).login(email)).status).toBe(200);
  });
});
