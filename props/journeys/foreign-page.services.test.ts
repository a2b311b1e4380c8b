// What somebody else's page can do to an operator who is logged in, in a real browser: nothing is changed, read, framed or
// followed; a session that ended is noticed by the page that is open; and names that attackers chose are text in every view.
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storedEvent } from '../../gateway/operator-plane/plumbing/operator-plane.fixture.ts';
import { launchBrowser, type Watched } from './browser.ts';
import { type MemoryConsole, openMemoryConsole } from './memory-console.ts';

const TIMEOUT_MS = 600_000;
const HOSTILE = `"><img src=x onerror=alert(1)></script><script>alert(2)</script>{{7*7}}javascript:alert(3)`;
/** Names that a node, a person or a program could bear. */
const SHORT = HOSTILE.slice(0, 60);

let memory: MemoryConsole;
let browser: Browser;
let window: Watched;
let foreign: { readonly server: Server; readonly origins: readonly string[] };
let sensorId = '';

beforeAll(async () => {
  memory = await openMemoryConsole();
  const { fixture, directory } = memory;
  sensorId = fixture.addSensor(1, SHORT);
  const row = fixture.state.sensors.get(sensorId);
  if (row === undefined) throw new Error('it was added');
  const { system } = row;
  fixture.state.sensors.set(sensorId, {
    ...row,
    ...{ declaredRole: SHORT, sensorVersion: SHORT, bootId: SHORT, labels: { [SHORT]: SHORT } },
    system: { ...system, os_name: SHORT, os_version: SHORT, kernel_version: SHORT },
  });
  const observed_at = new Date(fixture.state.nowMs - 1_000).toISOString();
  fixture.state.events.push(
    storedEvent(1, {
      ...{ sensor_id: sensorId, node_name: SHORT, observed_at, message: HOSTILE },
      ...{ severity: 'high', file: { path: HOSTILE, operation: 'read' } },
      process: { exec_id: 'x', pid: 7, binary: HOSTILE, arguments: HOSTILE },
      ancestors: [{ exec_id: 'y', pid: 1, binary: HOSTILE }],
      network: { protocol: 'tcp', direction: 'outbound', domain: HOSTILE },
    }),
  );
  fixture.addUser('viewer', { displayName: SHORT, email: `${SHORT}@example.org` });
  browser = await launchBrowser();
  window = await memory.windowOf(browser, 'admin');
  foreign = await openForeignSite(directory);
}, TIMEOUT_MS);
afterAll(async () => {
  await browser?.close();
  foreign?.server.close();
  foreign?.server.closeAllConnections();
  await memory?.close();
}, TIMEOUT_MS);

/** A site under two names: another one, and one that a browser takes for the same site as the Console. */
async function openForeignSite(directory: string) {
  const read = (name: string) => readFileSync(join(directory, name));
  const tls = { cert: read('server.cert.pem'), key: read('server.key.pem') };
  const server = createServer(tls, (_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>foreign</title><main></main>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { server, origins: [`https://127.0.0.1:${port}`, `https://localhost:${port}`] };
}

/** Its page, in a tab of the browser that is logged in. */
async function foreignTab(origin: string): Promise<Page> {
  const tab = await window.context.newPage();
  await tab.goto(origin);
  return tab;
}
const isRevoked = () => fixtureOf().state.sensors.get(sensorId)?.revokedAtMs !== null;
const fixtureOf = () => memory.fixture;

type Done = { readonly found: readonly string[]; readonly asked: string };

/** Every request that a page may send by script, as its own text. */
const callsOf = (api: string, id: string) => `(async () => {
  const body = JSON.stringify({ reason: 'foreign' });
  const found = [];
  for (const type of ['text/plain', 'application/json', 'application/x-www-form-urlencoded'])
    for (const mode of ['no-cors', 'cors']) {
      const headers = { 'content-type': type };
      const init = { method: 'POST', mode, headers, body, credentials: 'include' };
      await fetch('${api}/sensors/${id}/revoke', init).then(
        (answer) => found.push(answer.type),
        () => found.push('refused'),
      );
    }
  navigator.sendBeacon('${api}/sensors/${id}/revoke', body);
  const asked = await fetch('${api}/sensors', { credentials: 'include' }).then(
    (answer) => answer.text(),
    () => 'unreadable',
  );
  return { found, asked };
})()`;

/** A form that leads away, with a body that reads as JSON. */
const formOf = (action: string) => `(() => {
  const form = document.createElement('form');
  form.method = 'post';
  form.enctype = 'text/plain';
  form.action = '${action}';
  const field = document.createElement('input');
  field.name = '{"reason":"foreign","x":"';
  field.value = '"}';
  form.append(field);
  document.body.append(form);
  form.submit();
})()`;

describe('a foreign page', { timeout: TIMEOUT_MS }, () => {
  it('should change nothing with any request that a page can send, and read nothing', async () => {
    await window.page.goto('/');
    await window.page.locator('main h1').first().waitFor();
    for (const origin of foreign.origins) {
      const tab = await foreignTab(origin);
      const done = await tab.evaluate<Done>(callsOf(`${memory.url}/api/v2`, sensorId));
      expect(done.asked).toBe('unreadable');
      expect(done.found.filter((kind) => kind !== 'opaque' && kind !== 'refused')).toEqual([]);
      // A form that leads away, which is what a browser lets any page send.
      await Promise.all([
        tab.waitForURL(`${memory.url}/**`),
        tab.evaluate(formOf(`${memory.url}/api/v2/sensors/${sensorId}/revoke`)),
      ]);
      await tab.close();
      expect([origin, isRevoked()]).toEqual([origin, false]);
    }
    const { audit } = fixtureOf().state;
    expect(
      audit.filter(({ action, result }) => action === 'sensor.revoke' && result === 'ok'),
    ).toEqual([]);
  });

  it('should not put the page into a frame, and open no socket', async () => {
    for (const origin of foreign.origins) {
      const tab = await foreignTab(origin);
      const told = await tab.evaluate<string>(`new Promise((resolve) => {
        const own = new WebSocket('${memory.url.replace('https', 'wss')}/api/v2/live');
        own.onopen = () => resolve('open');
        own.onerror = () => resolve('refused');
      })`);
      expect([origin, told]).toEqual([origin, 'refused']);
      await tab.evaluate(`new Promise((resolve) => {
        const frame = document.createElement('iframe');
        frame.onload = () => resolve();
        frame.src = '${memory.url}/sensors';
        document.body.append(frame);
      })`);
      const framed = tab.frames().filter((frame) => frame !== tab.mainFrame());
      for (const frame of framed) {
        // The browser tells of its own page a moment after it stands there.
        await expect.poll(() => frame.url()).toMatch(/^chrome-error:/);
        expect(await frame.locator('.fs-page').count()).toBe(0);
      }
      await tab.close();
    }
  });
});

describe('text that attackers chose', { timeout: TIMEOUT_MS }, () => {
  it('should be text in every view', async () => {
    const { page, complaints } = window;
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    const tabs = ['overview', 'actor', 'events', 'processes', 'network', 'inventory'];
    const paths = [
      ...['/', '/sensors', '/events', '/actors', '/coverage', '/audit', '/settings/users'],
      ...[...tabs, 'certificate', 'audit'].map((tab) => `/sensors/${sensorId}/${tab}`),
      `/events?text=${encodeURIComponent(HOSTILE)}&binary=${encodeURIComponent(HOSTILE)}`,
      `/sensors?node_name=${encodeURIComponent(SHORT)}`,
      `/audit?actor=${encodeURIComponent(HOSTILE)}`,
    ];
    for (const path of paths) {
      await page.goto(path);
      await page.locator('main h1').first().waitFor();
      await page.locator('main [role="status"][aria-label]').first().waitFor({ state: 'detached' });
      expect([path, await page.locator('img[src="x"]').count()]).toEqual([path, 0]);
    }
    await page.goto('/events');
    await page.locator('table tbody .fs-row-button').first().click();
    for (const tab of ['Event', 'Ancestry', 'JSON']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('dialog').getByText('onerror=alert(1)').first().waitFor();
      expect(await page.locator('img[src="x"]').count()).toBe(0);
    }
    // No link leads to a script.
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
    expect(dialogs).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

describe('a session that ended', { timeout: TIMEOUT_MS }, () => {
  it('should be noticed by the open page, and leave nothing behind the back button', async () => {
    const own = await memory.windowOf(browser, 'viewer');
    const { page } = own;
    await page.goto('/sensors');
    await page.getByRole('link', { name: SHORT }).first().waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.waitForURL((url) => url.pathname !== '/sensors');
    for (const [key, session] of fixtureOf().state.sessions) {
      const user = fixtureOf().state.users.get(session.userId);
      if (user?.role === 'viewer') fixtureOf().state.sessions.delete(key);
    }
    // It asks for this or, by itself, for something else before: then the link is gone.
    page
      .getByRole('link', { name: 'Sensors' })
      .first()
      .click()
      .catch(() => undefined);
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    expect(await page.getByText(SHORT).count()).toBe(0);
    await own.context.close();
  });

  it('should come back to a path of this Console alone', async () => {
    const own = await memory.windowOf(browser, 'viewer');
    const { page } = own;
    const host = new URL(memory.url).host;
    for (const away of [
      'https://evil.example/',
      '//evil.example/',
      '/\\evil.example',
      'javascript:1',
    ]) {
      await page.goto(`/login?return_to=${encodeURIComponent(away)}`);
      await page.locator('h1').first().waitFor();
      expect([away, new URL(page.url()).host]).toEqual([away, host]);
    }
    expect([...own.hosts]).toEqual([host]);
    await own.context.close();
  });
});
