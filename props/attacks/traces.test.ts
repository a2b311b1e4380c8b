// What is done leaves a trace: every route that changes something is called once by somebody who may, and the audit trail
// says who it was, from where, what was there before and after, and the result; called by somebody who may not, it says
// that too. No secret is ever in it, or in anything that a store is handed. The routes are read from the program's own
// table. decision: D35; invariant: I11, I17
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashOfRecoveryCode } from '../../actors/access/recovery-codes.ts';
import { hashOfSecret } from '../../actors/trust/tokens.ts';
import { createFixture } from '../../gateway/operator-plane/plumbing/operator-plane.fixture.ts';
import { RECOVERY_CODES_COUNT } from '../../machines/limits.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { createIssuer, licensePayload } from './license-issuer.ts';
import { type Answer, makeKeys, nth } from './peer.ts';
import { addPerson, createBrowser, PASSWORD } from './person.ts';
import { codeOfApp } from './person-with-app.ts';
import { formsOf, recordStores } from './recorded-stores.ts';
import { openStores } from './stores.fixture.ts';
import { secretsIn, walkSecurityKeys } from './trace-steps.ts';
import * as WALKS from './walk-list.ts';

const ADDRESS = '127.0.0.1';
const NEXT_PASSWORD = 'quite another long secret';
const LAST_PASSWORD = 'a third one, longer than both';
const CLIENT_SECRET = 'the secret of a provider';
const STEP_MS = 30_000;
/** Tokens, links, keys. */
const BEARER = /^svc[a-z]_/;
const isCode = (one: string) => /^([0-9a-z]{4}-){5}[0-9a-z]{4}$/.test(one);
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);
const ANYBODY = '00000000-0000-4000-8000-000000000000';
/** Asked by POST since what is asked about is long; nothing changes here. */
const CHANGES_NOTHING = [
  ...['/sso-providers/:id/test', '/packs/check', '/policies/verify', '/alert-rules/backtest'],
  // Questions to a key, forgotten in minutes.
  ...['/auth/mfa/keys/begin', '/auth/mfa/keys/ask'],
].map((path) => `POST /api/v2${path}`);

type Browser = ReturnType<typeof createBrowser>;
/** Everything that any store was handed. */
const recorded = recordStores(await openStores());
let console: ConsoleUnderTest;
let unsafe: readonly string[];

beforeAll(async () => {
  const fixture = await createFixture();
  unsafe = fixture.app.routeTable.routes
    .filter(({ method }) => !SAFE.has(method))
    .map(({ method, url }) => `${method} ${url}`)
    .filter((route) => !CHANGES_NOTHING.includes(route));
  await fixture.close();
  console = await startConsole({ issuer: createIssuer(), stores: recorded.stores });
});
afterAll(async () => {
  await console.stop();
  await removeSharedKeys();
});

const newest = async () => (await console.audited())[0]?.auditId ?? 0;
const since = async (auditId: number) =>
  (await console.audited()).filter((row) => row.auditId > auditId);

/** Calls routes one after the other and keeps what each left in the trail. */
function createWalk(person: { readonly browser: Browser; readonly actor: string }) {
  const walked: string[] = [];
  const told: string[] = [];
  const wrong: unknown[] = [];

  /** One call; `by` says who does it, if it is not the person. */
  async function step(
    method: string,
    url: string,
    body?: unknown,
    more: { id?: string; item?: string; by?: { browser: Browser; actor: string } } = {},
  ): Promise<Answer> {
    const { id = '', item = '', by = person } = more;
    const [route, before] = [`${method} /api/v2${url}`, await newest()];
    const under = url.replace(':kind/:target', `sensor/${id}`).replace(/:(id|name)/, id);
    const path = under.replace(':item_id', item);
    const answer = await by.browser.ask(method, path, body);
    const rows = await since(before);
    const trace = rows.find(({ actor, result, from }) => {
      return actor === by.actor && from === ADDRESS && /^(ok|second_factor_needed)$/.test(result);
    });
    walked.push(route);
    if (answer.status >= 300 || trace === undefined) {
      wrong.push([route, answer.status, answer.body, rows]);
    }
    told.push(...secretsIn(answer.body));
    return answer;
  }
  return { step, walked, told, wrong };
}

async function loggedIn(role: 'admin' | 'viewer') {
  const { userId, email } = await addPerson(console, role);
  const browser = createBrowser(console);
  expect((await browser.login(email)).status).toBe(200);
  return { userId, email, browser, actor: `user:${email}` };
}

describe('whatever changes something', () => {
  it('should be told with who, from where and how it ended, and with no secret', async () => {
    const admin = await loggedIn('admin');
    const walk = createWalk(admin);
    const { step } = walk;
    const given: string[] = [];
    const keys = await makeKeys(2);
    const sensor = await console.enroll('node-1', nth(keys, 0));

    const own = { id: sensor.sensorId };

    // People and what they own.
    const user = await step('POST', '/users', { email: 'new@example.test', role: 'analyst' });
    const id = String(user.body['user_id']);
    await step('PATCH', '/users/:id', { revision: 1, display_name: 'New' }, { id });
    await step('PUT', '/users/:id/sensors', { sensor_ids: [sensor.sensorId] }, { id });
    const link = await step('POST', '/users/:id/reset-link', {}, { id });
    const fresh = { browser: createBrowser(console), actor: 'user:new@example.test' };
    const reset = { secret: link.body['secret'], password: NEXT_PASSWORD };
    await step('POST', '/auth/reset', reset, { by: fresh });
    const login = { email: 'new@example.test', password: NEXT_PASSWORD };
    await step('POST', '/auth/login', login, { by: fresh });
    await step('POST', '/auth/reauthenticate', { password: NEXT_PASSWORD }, { by: fresh });

    // Own sessions, password and keys.
    const second = createBrowser(console);
    await second.login('new@example.test', NEXT_PASSWORD);
    const other = await second.get('/auth/session');
    const ended = { id: String(other.body['session_id']), by: fresh };
    await step('DELETE', '/auth/sessions/:id', undefined, ended);
    await second.login('new@example.test', NEXT_PASSWORD);
    await step('POST', '/auth/sessions/end-others', {}, { by: fresh });
    const change = { current_password: NEXT_PASSWORD, new_password: LAST_PASSWORD };
    await step('POST', '/auth/password', change, { by: fresh });
    const request = { name: 'key', scopes: ['sensors:read'] };
    for (const [path, by] of [
      ['/api-keys/:id', fresh],
      ['/all-api-keys/:id', admin],
    ] as const) {
      const key = await step('POST', '/api-keys', request, { by: fresh });
      await step('DELETE', path, undefined, { id: String(key.body['key_id']), by });
    }

    // The second factor.
    const begun = await step(
      ...['POST', '/auth/mfa/enroll'],
      ...[{ password: LAST_PASSWORD }, { by: fresh }],
    );
    const secret = String(begun.body['secret']);
    let steps = 0;
    const code = () => {
      console.travel(STEP_MS);
      steps += 1;
      return codeOfApp(secret, console.time.now());
    };
    await step('POST', '/auth/mfa/confirm', { code: code() }, { by: fresh });
    await step('POST', '/auth/mfa/recovery-codes', { code: code() }, { by: fresh });
    await fresh.browser.login('new@example.test', LAST_PASSWORD);
    await step('POST', '/auth/mfa/verify', { code: code() }, { by: fresh });
    await walkSecurityKeys(step, fresh);
    const off = { code: code(), password: LAST_PASSWORD };
    await step('POST', '/auth/mfa/disable', off, { by: fresh });
    await fresh.browser.post('/auth/mfa/enroll', { password: LAST_PASSWORD });
    await step('DELETE', '/users/:id/mfa', undefined, { id });
    await fresh.browser.login('new@example.test', LAST_PASSWORD);
    await step('POST', '/auth/logout', {}, { by: fresh });
    await fresh.browser.login('new@example.test', LAST_PASSWORD);
    await step('DELETE', '/users/:id/sessions', undefined, { id });
    await step('DELETE', '/users/:id', undefined, { id });
    expect(steps).toBe(4);

    // The Console itself, and its sensors.
    const envelope = console.issuer.sign(licensePayload(console.time.now()));
    await step('POST', '/license', envelope);
    const settings = { values: { license_grace_days: 7 }, revisions: { license_grace_days: 0 } };
    await step('PATCH', '/settings', settings);
    const provider = await step('POST', '/sso-providers', {
      ...{ kind: 'oidc', name: 'Example', issuer: 'https://id.example.org', client_id: 'console' },
      client_secret: CLIENT_SECRET,
    });
    const at = { id: String(provider.body['provider_id']) };
    const rename = { revision: 1, name: 'Other', client_secret: `${CLIENT_SECRET}!` };
    await step('PATCH', '/sso-providers/:id', rename, at);
    await step('DELETE', '/sso-providers/:id', undefined, at);
    for (const go of Object.values(WALKS)) {
      await go({
        ...{ step, sensorId: sensor.sensorId, relational: console.stores.relational },
        ...{ now: console.time.now, hide: (secret) => given.push(secret) },
        epoch: () => console.loops.designation().epoch ?? 0,
        addAnalyst: async () => (await addPerson(console, 'analyst')).email,
      });
    }
    const lost = await console.enroll('node-2', nth(keys, 1));
    await step('POST', '/sensors/bulk-revoke', { sensor_ids: [lost.sensorId], reason: 'lost' });
    await step('POST', '/sensors/:id/reenroll', {}, own);
    await step('POST', '/sensors/:id/revoke', { reason: 'stolen' }, own);

    expect(walk.wrong).toEqual([]);
    expect(unsafe.filter((route) => !walk.walked.includes(route))).toEqual([]);
    const trail = JSON.stringify(await console.audited());
    const hidden = [PASSWORD, NEXT_PASSWORD, LAST_PASSWORD, CLIENT_SECRET, ...given, ...walk.told];
    expect(hidden.length).toBeGreaterThan(25);
    expect(hidden.filter((one) => trail.includes(one))).toEqual([]);
    const cookie = String(admin.browser.cookie());
    expect(trail).not.toContain(cookie);

    // Nor is any in a row of any table: no store was handed it, in the clear or in other digits.
    const stored = [...recorded.texts].join('\n');
    const all = [...hidden, cookie];
    expect(all.filter((one) => formsOf(one).some((form) => stored.includes(form)))).toEqual([]);
    // What is shown to get in is there as its hash.
    const [bearers, codes] = [
      [...all.filter((one) => BEARER.test(one)), cookie],
      all.filter(isCode),
    ];
    expect(new Set(bearers.map((one) => one.slice(0, 5))).size).toBeGreaterThan(4);
    expect(codes).toHaveLength(2 * RECOVERY_CODES_COUNT);
    const hashes = [
      ...bearers.map(hashOfSecret),
      ...codes.map((code) => hashOfRecoveryCode(code.replaceAll('-', ''))),
    ];
    expect(hashes.filter((one) => !recorded.texts.has(one.toString('hex')))).toEqual([]);
  });

  it('should tell what was there before and what after', async () => {
    const admin = await loggedIn('admin');
    const { userId } = await addPerson(console, 'viewer');
    const before = await newest();
    const patch = { revision: 1, role: 'operator' };
    expect((await admin.browser.ask('PATCH', `/users/${userId}`, patch)).status).toBe(200);
    const { revision } = ((await admin.browser.get('/settings')).body['items'] as object[])
      .map((one) => one as { readonly name: string; readonly revision: number })
      .find(({ name }) => name === 'license_grace_days') ?? { revision: 0 };
    const settings = {
      values: { license_grace_days: 9 },
      revisions: { license_grace_days: revision },
    };
    expect((await admin.browser.ask('PATCH', '/settings', settings)).status).toBe(200);
    const rows = await since(before);
    expect(rows.find(({ action }) => action === 'user.change')).toMatchObject({
      ...{ actor: admin.actor, target: userId, from: ADDRESS, result: 'ok' },
      ...{ before: { role: 'viewer' }, after: { role: 'operator' } },
    });
    const changed = rows.find(({ action }) => action === 'settings.change');
    expect(changed).toMatchObject({ actor: admin.actor, after: { license_grace_days: 9 } });
    expect(changed?.before).toHaveProperty('license_grace_days');
  });

  it('should be told as well when it was refused, with the code that was answered', async () => {
    const viewer = await loggedIn('viewer');
    const open = ['POST /api/v2/auth/login', 'POST /api/v2/auth/reset'];
    const own = /^(POST|DELETE) \/api\/v2\/(auth\/|api-keys)/;
    const forbidden = unsafe.filter((route) => !open.includes(route) && !own.test(route));
    expect(forbidden.length).toBeGreaterThan(20);
    const silent: unknown[] = [];
    for (const route of forbidden) {
      const [method = '', url = ''] = route.split(' ');
      const before = await newest();
      const path = url.replace('/api/v2', '').replace(':id', ANYBODY);
      const answer = await viewer.browser.ask(method, path, {});
      const heard = await expect
        .poll(async () => await since(before))
        .not.toEqual([])
        .then(() => since(before));
      const trace = heard.find(({ actor, result, from }) => {
        return actor === viewer.actor && from === ADDRESS && result === String(answer.status);
      });
      if (answer.status !== 403 || trace === undefined) silent.push([route, answer.status, heard]);
    }
    expect(silent).toEqual([]);
  });
});
