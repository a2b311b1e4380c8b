// The page in a real browser on a real Console and Sensor: how it is served, every page in both colour schemes with text of
// attackers in it, a login with a second factor, and a sensor that goes stale, comes back and is revoked, watched in its
// statechart. decision: D54, D56
import { execFileSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOfApp } from '../attacks/person-with-app.ts';
import { api, items } from './api.ts';
import {
  axeOn,
  launchBrowser,
  liveView,
  logIn,
  openWindow,
  textOf,
  type Watched,
} from './browser.ts';
import { startConsole, startSensor } from './fleet.ts';
import { eventually, type Home, makeHome, type Program, removeHome } from './programs.ts';

const START_MS = 180_000;
const TEST_MS = 240_000;
const HOSTILE = `"><img src=x onerror=alert(1)></script><script>alert(2)</script>{{7*7}}`;
const ADMIN = 'admin@localhost';
const TABS = [
  ...['overview', 'actor', 'events', 'processes', 'network', 'inventory'],
  ...['policies', 'certificate', 'audit'],
];
/** Each part of the page in a test of its own, so that none takes long. ID is the sensor. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  watching: ['/', '/sensors', '/coverage', '/audit', '/actors', '/actors/machines/store-process'],
  detection: ['/events', '/alerts', '/alert-rules', '/alert-rules/new'],
  hunting: ['/searches', '/investigations', '/exercises'],
  policies: ['packs', 'assignments', 'rollouts', 'drift', 'library', 'keys'].map(
    (tab) => `/policies/${tab}`,
  ),
  people: ['general', 'users', 'teams', 'groups', 'sso', 'api-keys', 'tokens', 'license'].map(
    (tab) => `/settings/${tab}`,
  ),
  outside: [
    ...['/settings/webhooks', '/settings/siem', '/settings/exports'],
    '/settings/digests',
    ...['/deploy', '/account', '/help', '/docs'],
  ],
  'one sensor': TABS.map((tab) => `/sensors/ID/${tab}`),
};

let home: Home;
let consoleProgram: Program;
let sensorProgram: Program;
let browser: Browser;
let window: Watched;
let sensorId = '';
let password = '';
const markedProgram = () => join(home.folder, 'marked');

beforeAll(async () => {
  home = await makeHome({
    ...{ HEARTBEAT_INTERVAL_MS: 5_000, HEARTBEAT_TIMEOUT_MS: 5_000, STALENESS_WINDOW_MS: 11_000 },
  });
  consoleProgram = await startConsole(home);
  const told = await consoleProgram.prints(/Password\s+\S+/, START_MS);
  password = told.split(/\s+/)[1] ?? '';
  const made = await api(home, 'POST', '/api/v2/enrollment-tokens', {});
  const { secret } = made.body as { secret: string };
  sensorProgram = startSensor(home, { token: secret });
  sensorId = await eventually(
    'the sensor and its engine run',
    async () => {
      const path = '/api/v2/sensors?engine=running';
      const [first] = await items<{ sensor_id: string }>(home, path);
      return first?.sensor_id ?? null;
    },
    START_MS,
  );
  await api(home, 'POST', '/api/v2/groups', { name: HOSTILE.slice(0, 60), description: HOSTILE });
  // A program of this journey alone: other programs of the machine are seen as well.
  copyFileSync('/bin/true', markedProgram());
  execFileSync(markedProgram(), [HOSTILE]);
  browser = await launchBrowser();
  window = await openWindow(browser, `https://localhost:${home.port}`);
  await logIn(window.page, ADMIN, password);
  // What a terminal showed opens nothing but the way to a password of one's own.
  await window.page.getByRole('heading', { name: 'Set a password of your own' }).waitFor();
  const own = 'a long walk along the quiet shore';
  for (const [name, value] of Object.entries({ current: password, next: own, again: own })) {
    await window.page.locator(`input[name="${name}"]`).fill(value);
  }
  await window.page.getByRole('button', { name: 'Set password' }).click();
  password = own;
  await window.page.getByRole('heading', { name: 'Overview' }).waitFor();
}, START_MS);

afterAll(async () => {
  await browser?.close();
  if (sensorProgram?.isRunning()) sensorProgram.kill('SIGCONT');
  for (const program of [sensorProgram, consoleProgram]) program?.kill('SIGTERM');
  for (const program of [sensorProgram, consoleProgram]) await program?.exited;
  await removeHome(home);
}, START_MS);

describe('how the page is served', () => {
  it('should be for browsers; a program gets what programs get', async () => {
    const html = { accept: 'text/html,*/*;q=0.8', 'accept-encoding': 'br' };
    const [first, again] = [await get('/sensors', html), await get('/sensors', html)];
    expect([first.status, first.headers['cache-control']]).toEqual([200, 'no-cache']);
    const policy = String(first.headers['content-security-policy']);
    expect(policy).not.toContain('unsafe');
    const nonce = /script-src 'nonce-([^']+)'/.exec(policy)?.[1] ?? 'none';
    expect(first.text).toContain(`nonce="${nonce}"`);
    expect(again.text).not.toContain(nonce);
    const asset = /src="(\/assets\/[^"]+\.js)"/.exec(first.text)?.[1] ?? '';
    const script = await get(asset, html);
    expect([script.status, script.headers['content-encoding']]).toEqual([200, 'br']);
    expect(script.headers['cache-control']).toContain('immutable');
    const known = await get(asset, { 'if-none-match': String(script.headers['etag']) });
    expect(known.status).toBe(304);
    for (const path of ['/assets/gone.js', '/api/v2/nothing', '/nothing']) {
      expect([path, (await get(path, html)).status]).toEqual([path, 404]);
    }
    expect((await get('/api/v2/sensors', html)).text).toContain('credential_required');
    expect((await get('/', { accept: '*/*' })).text).toContain('<pre>service-console login');
  });
});

describe('every page', () => {
  it.each(Object.keys(PARTS))(
    'should be free of what axe finds, in both schemes, and keep to its policy: %s',
    {
      timeout: TEST_MS,
    },
    async (part) => {
      const { page, complaints, hosts } = window;
      const found: string[] = [];
      for (const path of PARTS[part] ?? []) {
        await page.goto(path.replace('ID', sensorId));
        await page.locator('main h1').first().waitFor();
        await page
          .locator('main [role="status"][aria-label]')
          .first()
          .waitFor({ state: 'detached' });
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          const name = `${path.replaceAll('/', '-')}-${colorScheme}`;
          found.push(...(await axeOn(page)).map((one) => `${name} ${one}`));
          await liveView(page, `1280${name}`);
        }
        expect([path, await page.getByRole('alert').count()]).toEqual([path, 0]);
        expect([path, await page.locator('img[src="x"]').count()]).toEqual([path, 0]);
      }
      expect(found).toEqual([]);
      expect(complaints).toEqual([]);
      expect([...hosts]).toEqual([`localhost:${home.port}`]);
      await page.emulateMedia({ colorScheme: 'light' });
    },
  );

  it('should fit a telephone, and show the text of attackers as text', {
    timeout: TEST_MS,
  }, async () => {
    const { page } = window;
    await page.setViewportSize({ width: 375, height: 800 });
    for (const path of [
      ...['/', '/sensors', '/settings/groups', `/sensors/${sensorId}/actor`],
      ...['/events', '/alerts', '/alert-rules/new', '/searches', '/investigations', '/exercises'],
    ]) {
      await page.goto(path);
      await page.locator('main h1').first().waitFor();
      await page.locator('main [role="status"][aria-label]').first().waitFor({ state: 'detached' });
      const wide = await page.evaluate('document.documentElement.scrollWidth');
      expect([path, wide]).toEqual([path, 375]);
      await liveView(page, `375${path.replace(sensorId, 'ID').replaceAll('/', '-')}`);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(
      `/events?binary=${encodeURIComponent(markedProgram())}&event_kind=process_exec`,
    );
    await page.locator('table tbody .fs-row-button').first().click();
    await page.getByRole('tab', { name: 'JSON' }).click();
    await page.getByRole('dialog').getByText('onerror=alert(1)').first().waitFor();
    expect(await page.locator('img[src="x"]').count()).toBe(0);
    expect(window.complaints).toEqual([]);
  });
});

describe('many sensors', () => {
  it('should be chosen, tagged, and shown in the columns that somebody wants', {
    timeout: TEST_MS,
  }, async () => {
    const { page } = window;
    await page.goto('/sensors');
    await page.getByRole('checkbox').first().check();
    await page.getByText('1 chosen').waitFor();
    await page.getByRole('textbox', { name: 'Tag' }).fill('edge');
    await page.getByRole('button', { name: 'Add tag' }).click();
    await page.getByText('Done for 1 of 1.').waitFor();
    expect(await axeOn(page)).toEqual([]);
    await liveView(page, '1280-sensors-chosen');
    await page.getByRole('button', { name: 'Choose none' }).click();
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByLabel('Kernel').check();
    await page.getByRole('columnheader', { name: 'Kernel' }).waitFor();
    expect(new URL(page.url()).searchParams.getAll('columns')).toContain('kernel');
    const [sensor] = await items<{ tags: string[] }>(home, '/api/v2/sensors');
    expect(sensor?.tags).toEqual(['edge']);
  });
});

describe('a sensor in its statechart', () => {
  const lit = (state: string) =>
    window.page.locator(`[data-state="${state}"][data-active="true"]`).waitFor();

  it('should go stale while it is stopped, come back, be revoked, and be seen as it was', {
    timeout: TEST_MS,
  }, async () => {
    const { page } = window;
    await page.goto(`/sensors/${sensorId}/actor`);
    await lit('freshness.fresh');
    // What the node reports of its own: its stream is open, drawn in that statechart.
    await lit('open');
    await page.getByText('opens its stream').first().waitFor();
    await page.getByText('Between node and Console').scrollIntoViewIfNeeded();
    await liveView(page, '1280-actor-node');
    sensorProgram.kill('SIGSTOP');
    await lit('freshness.stale');
    await liveView(page, '1280-actor-stale');
    sensorProgram.kill('SIGCONT');
    await lit('freshness.fresh');

    await page.getByRole('button', { name: 'Try on the copy' }).click();
    await page.getByText('Leads to').waitFor();
    await page.getByRole('button', { name: 'Revoke sensor' }).click();
    const dialog = page.getByRole('dialog');
    const name = await textOf(page.locator('main h1').first());
    await dialog.getByLabel('Name of the sensor').fill(name);
    await dialog.getByLabel('Reason, for the audit log').fill('the journey is over');
    await dialog.getByRole('button', { name: 'Revoke sensor' }).click();
    await lit('trust.revoked');

    // It came back before it was revoked. It may have gone stale again since, which the log says, too.
    await page.locator('.fs-log button', { hasText: 'stale → fresh' }).first().click();
    await lit('trust.trusted');
    expect(new URL(page.url()).searchParams.get('at')).toMatch(/^\d{4}-/);
    await liveView(page, '1280-actor-past');
    await page.getByRole('button', { name: 'Back to live' }).click();
    await lit('trust.revoked');
    expect(window.complaints).toEqual([]);
  });
});

describe('a second factor', () => {
  it('should be turned on, asked for at the next login, and known by its code', {
    timeout: TEST_MS,
  }, async () => {
    const { page } = window;
    await page.goto('/account');
    await page.getByRole('button', { name: 'Turn on' }).click();
    const panel = page.getByRole('region', { name: 'Second factor' });
    await panel.getByLabel('Current password').fill(password);
    await panel.getByRole('button', { name: 'Show the secret' }).click();
    const secret = await textOf(panel.locator('.fs-code code'));
    await panel.getByLabel('Code').fill(codeOfApp(secret, Date.now()));
    await panel.getByRole('button', { name: 'Turn on' }).click();
    await panel.locator('.fs-codes li').first().waitFor();
    const recovery = await textOf(panel.locator('.fs-codes li').first());
    await panel.getByRole('button', { name: 'I have kept them' }).click();
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();

    await logIn(page, ADMIN, password);
    await page.getByLabel('Code').fill('000000');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('alert').waitFor();
    // A code works once and the one of this moment was used: the recovery code stands in for it.
    await page.getByLabel('Code').fill(recovery);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });
});

type Got = {
  readonly status: number;
  readonly text: string;
  readonly headers: NodeJS.Dict<string | string[]>;
};

/** One GET without a session. */
function get(path: string, headers: Readonly<Record<string, string>>): Promise<Got> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port: home.port,
      path,
      headers,
      rejectUnauthorized: false,
    };
    const call = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, text, headers: response.headers });
      });
    });
    call.on('error', reject);
    call.end();
  });
}
