// PostgreSQL goes away under people who are logged in: connections are refused, or it takes what is asked and never
// answers. A whole Console on Debian's PostgreSQL says 503 with a time within a bound, takes no session away, and goes on
// by itself when it is back; so does one that was stopped meanwhile and started anew. invariant: I18
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DATABASE_CONNECT_TIMEOUT_MS, DATABASE_TIMEOUT_MS } from '../../machines/limits.ts';
import { openRelay, type Relay } from '../contracts/relay.ts';
import { slackOf } from '../yardstick.ts';
import { type Answer, apiAs } from './api.ts';
import { type ExternalStore, externalPostgres, missingForPostgres } from './external-stores.ts';
import { isSkipped, startConsole, stop } from './fleet.ts';
import { eventually, type Home, makeHome, type Program, removeHome } from './programs.ts';

/** One question and one connection, each to the end of its time, and what a busy machine adds. */
const ANSWER_WITHIN_MS = DATABASE_TIMEOUT_MS + DATABASE_CONNECT_TIMEOUT_MS + 2_000;
const ASKED_AT_ONCE = 20;
const BACK_WITHIN_MS = 30_000;
const TEST_MS = 120_000;
const PATHS = ['/api/v2/auth/session', '/api/v2/sensors', '/api/v2/users', '/api/v2/audit'];
const skip = isSkipped('database away', missingForPostgres());

let home: Home;
let postgres: ExternalStore;
let relay: Relay;
let running: Program;
let session: Readonly<Record<string, string>>;

beforeAll(async () => {
  if (skip) return;
  home = await makeHome();
  postgres = await externalPostgres(home.folder);
  relay = await openRelay(Number(new URL(postgres.url).port));
  await start();
  const password = /Password\s+(\S+) \(shown/.exec(running.output())?.[1] ?? '';
  const own = { 'sec-fetch-site': 'same-origin', 'x-service-csrf': '1' };
  const login = await apiAs(home, own, 'POST', '/api/v2/auth/login', {
    ...{ email: 'admin@localhost', password },
  });
  expect(login.status).toBe(200);
  const cookieOf = ({ headers }: typeof login) => {
    const [cookie = ''] = [headers['set-cookie'] ?? []].flat();
    return { ...own, cookie: cookie.split(';')[0] ?? '' };
  };
  // The password of the terminal is good for setting another.
  const changed = await apiAs(home, cookieOf(login), 'POST', '/api/v2/auth/password', {
    ...{ current_password: password, new_password: "a password of one's own" },
  });
  expect(changed).toMatchObject({ status: 200, body: { stage: 'full' } });
  session = cookieOf(changed);
}, TEST_MS);
afterAll(async () => {
  if (skip) return;
  await stop(running);
  await relay.close();
  await postgres.stop();
  await removeHome(home);
});

async function start(): Promise<void> {
  const url = new URL(postgres.url);
  url.port = String(relay.port);
  running = await startConsole(home, { SERVICE_CONSOLE_DATABASE_URL: url.toString() });
}

async function ask(path: string): Promise<Answer & { readonly tookMs: number }> {
  const startedMs = performance.now();
  const answer = await apiAs(home, session, 'GET', path);
  return { ...answer, tookMs: performance.now() - startedMs };
}

async function isBack(): Promise<true | null> {
  const answers = await Promise.all(PATHS.map(ask));
  return answers.every(({ status }) => status === 200) ? true : null;
}

it.skipIf(skip).each(['away', 'stalled'] as const)(
  'should answer people 503 in bounded time while it is %s, and know them afterwards',
  { timeout: TEST_MS },
  async (fault) => {
    expect(await isBack()).toBe(true);
    const withinMs = ANSWER_WITHIN_MS + (await slackOf(isBack));
    await relay.setFault(fault);
    const paths = Array.from({ length: ASKED_AT_ONCE }, (_, at) => PATHS[at % PATHS.length] ?? '');
    for (const answer of [...(await Promise.all(paths.map(ask))), await ask('/api/v2/users')]) {
      expect(answer).toMatchObject({
        status: 503,
        headers: { 'content-type': expect.stringMatching(/^application\/problem\+json/) },
        body: { code: 'store_unavailable' },
      });
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      expect(answer.tookMs).toBeLessThan(withinMs);
    }
    expect(running.isRunning()).toBe(true);
    await relay.setFault('none');
    await eventually('the session counts again', isBack, BACK_WITHIN_MS);
    expect((await ask('/api/v2/auth/session')).body).toMatchObject({ stage: 'full' });
  },
);

it.skipIf(skip)('should know them after both were stopped', { timeout: TEST_MS }, async () => {
  await stop(running);
  await postgres.stop();
  await postgres.start();
  await start();
  await eventually('the session counts again', isBack, BACK_WITHIN_MS);
});
