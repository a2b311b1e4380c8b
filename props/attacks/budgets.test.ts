// Request budgets on the real listener: one for an address over both planes, one for a person over all its sessions and
// keys, and none for a sensor that shows its certificate. Whoever uses one up is told when to come again, and nobody else
// is. decision: D15, D41; invariant: I10
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  RATE_LIMIT_ANALYST_PER_MINUTE,
  RATE_LIMIT_OPERATOR_PER_MINUTE,
  RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE,
} from '../../machines/limits.ts';
import { ROLES, type Role } from '../../machines/trust/roles.rules.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { type Answer, codeOf, heartbeatBody, makeKeys, nth } from './peer.ts';
import { addPerson, createBrowser } from './person.ts';

const BUDGETS: Readonly<Record<Role, number>> = {
  viewer: 300,
  analyst: 300,
  sensor_owner: 1_000,
  operator: 1_000,
  admin: 1_000,
};
const AT_ONCE = 25;
let console: ConsoleUnderTest;

beforeEach(async () => {
  console = await startConsole({ budget: RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE });
});
afterEach(() => console.stop());
afterAll(removeSharedKeys);

const anonymous = (path: string, body?: unknown) =>
  console.ask(null, path, body, body === undefined ? { method: 'GET' } : {});
const withKey = (secret: string) =>
  console.ask(null, '/api/v2/sensors', undefined, {
    ...{ method: 'GET', headers: { authorization: `Bearer ${secret}` } },
  });

/** What an answer says is left: the name of the budget, its size, and the rest. */
function toldBy({ headers }: Pick<Answer, 'headers'>) {
  const policy = /^"(\w+)";q=(\d+);w=60$/.exec(String(headers['ratelimit-policy']));
  const left = /^"(\w+)";r=(\d+);t=\d+$/.exec(String(headers['ratelimit']));
  expect(left?.[1]).toBe(policy?.[1]);
  return { name: policy?.[1], limit: Number(policy?.[2]), left: Number(left?.[2]) };
}

function expectLimited(answer: Answer): void {
  expect(codeOf(answer)).toEqual([429, 'rate_limited']);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60);
  expect(toldBy(answer).left).toBe(0);
}

/** Asks so often, a few at once; gives the answers. */
async function ask(times: number, one: (at: number) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let from = 0; from < times; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, times - from) }, (_, at) => one(from + at));
    answers.push(...(await Promise.all(some)));
  }
  return answers;
}

describe('the budget of an address', () => {
  it('should be one over both planes, and neither sensors nor people pay for it', async () => {
    const [keys] = [await makeKeys(1)];
    const identity = await console.enroll('node-1', nth(keys, 0));
    const { email } = await addPerson(console, 'viewer');
    const browser = createBrowser(console);
    expect((await browser.login(email)).status).toBe(200);
    expect((await browser.get('/sensors')).status).toBe(200);
    const spent = RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE - toldBy(await anonymous('/')).left;
    const rest = RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE - spent;

    const turns = [
      () => anonymous('/api/v2/sensors'),
      () => anonymous('/sensors/enroll', {}),
      () => anonymous('/sensors/heartbeat', {}),
      () => anonymous('/api/v2/nothing'),
      () => withKey('svck_none'),
    ];
    const answers = await ask(rest, (at) => turns[at % turns.length]?.() ?? anonymous('/'));
    expect(answers.filter(({ status }) => status === 429)).toEqual([]);
    for (const turn of turns) expectLimited(await turn());
    expectLimited(await createBrowser(console).login(email));

    expect((await browser.get('/sensors')).status).toBe(200);
    const beat = await console.ask(identity, '/sensors/heartbeat', heartbeatBody(0, []));
    expect(beat.status).toBe(200);
    // Probes must not fail by what somebody else did.
    expect((await anonymous('/livez')).status).toBe(200);
  });
});

describe('the budget of a person', () => {
  it('should be that of its role, and of its role now', async () => {
    expect([RATE_LIMIT_OPERATOR_PER_MINUTE, RATE_LIMIT_ANALYST_PER_MINUTE]).toEqual([1_000, 300]);
    expect(RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE).toBe(200);
    const admin = createBrowser(console);
    await admin.login((await addPerson(console, 'admin')).email);
    for (const role of ROLES) {
      const browser = createBrowser(console);
      const { email, userId } = await addPerson(console, role);
      expect((await browser.login(email)).status).toBe(200);
      const first = toldBy(await browser.get('/sensors'));
      expect([role, first.name, first.limit]).toEqual([role, 'user', BUDGETS[role]]);
      // A key has what its maker has, from the same budget, whatever its scopes are.
      const made = await browser.post('/api-keys', { name: 'k', scopes: ['sensors:read'] });
      const second = toldBy(await withKey(String(made.body['secret'])));
      expect(second).toEqual({ ...first, left: first.left - 2 });
      const user = await console.stores.relational.users.get(userId);
      const change = { role: role === 'viewer' ? 'operator' : 'viewer', revision: user?.revision };
      expect((await admin.ask('PATCH', `/users/${userId}`, change)).status).toBe(200);
      // A role that gives more ends the key. decision: D169
      const changed = await withKey(String(made.body['secret']));
      if (role === 'viewer') expect(changed.status).toBe(401);
      else expect(toldBy(changed).limit).toBe(300);
    }
  });

  it('should run out for all it has, and for nobody beside it', async () => {
    const { email } = await addPerson(console, 'analyst');
    const [one, two, other] = [0, 1, 2].map(() => createBrowser(console));
    if (one === undefined || two === undefined || other === undefined) throw new Error('no three');
    for (const browser of [one, two]) expect((await browser.login(email)).status).toBe(200);
    await other.login((await addPerson(console, 'viewer')).email);
    const made = await one.post('/api-keys', { name: 'k', scopes: ['sensors:read'] });
    const { left } = toldBy(await two.get('/sensors'));
    const turns = [one, two].map((browser) => () => browser.get('/auth/session'));
    turns.push(() => withKey(String(made.body['secret'])));
    const answers = await ask(left, (at) => turns[at % turns.length]?.() ?? one.get('/sensors'));
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    for (const turn of turns) expectLimited(await turn());
    expect((await other.get('/sensors')).status).toBe(200);
    // Its own address is not closed to others by it either.
    expect((await anonymous('/api/v2/sensors')).status).toBe(401);
  });
});
