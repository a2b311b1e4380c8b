// How people come in, in a real browser: with a security key beside their app, out again from every page, and each role to
// what it may. The Console is over memory, the key is one of the browser's own making. decision: D36, D40, D73
import type { Browser, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FRESH_LOGIN_MS } from '../../machines/console/access/limits.ts';
import { TOTP_STEP_MS } from '../../machines/limits.ts';
import { ROLE_SCOPES, ROLES, type Role, type Scope } from '../../machines/trust/roles.rules.ts';
import { addPerson, PASSWORD } from '../attacks/person.ts';
import { codeOfApp } from '../attacks/person-with-app.ts';
import {
  axeOn,
  launchBrowser,
  liveView,
  logIn,
  openWindow,
  textOf,
  type Watched,
} from './browser.ts';
import { type MemoryConsole, openMemoryConsole } from './memory-console.ts';

const TIMEOUT_MS = 600_000;

let memory: MemoryConsole;
let browser: Browser;
let sensorId = '';

beforeAll(async () => {
  memory = await openMemoryConsole();
  sensorId = memory.fixture.addSensor(1);
  browser = await launchBrowser();
}, TIMEOUT_MS);
afterAll(async () => {
  await browser?.close();
  await memory?.close();
}, TIMEOUT_MS);

const travel = (ms: number) => {
  memory.fixture.state.nowMs += ms;
};
const person = (role: Role) =>
  addPerson({ stores: { relational: memory.fixture.stored.relational } as never }, role);
const atHome = (page: Page) => page.getByRole('heading', { name: 'Overview' }).waitFor();

async function logOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
}

/** A picture in each width and scheme, and what axe finds in it. */
async function lookAt({ page }: Watched, name: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const width of [1280, 375]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      found.push(...(await axeOn(page)).map((one) => `${name} ${width} ${colorScheme} ${one}`));
      await liveView(page, `${width}-${name}-${colorScheme}`);
    }
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  return found;
}

/** A key that is touched as soon as it is asked. */
async function plugIn({ context, page }: Watched): Promise<CDPSession> {
  const session = await context.newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'usb', hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  return session;
}

describe('a session', { timeout: TIMEOUT_MS }, () => {
  it('should be forgotten from every page by one button', async () => {
    const window = await memory.windowOf(browser, 'admin');
    const { page } = window;
    for (const path of [
      ...['/', '/sensors', `/sensors/${sensorId}/overview`, '/events', '/actors', '/coverage'],
      ...['/audit', '/deploy', '/settings/users', '/account', '/help', '/docs'],
    ]) {
      await page.goto(path);
      await page.getByRole('button', { name: 'Account' }).click();
      await page.getByRole('menuitem', { name: 'Log out' }).waitFor();
    }
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await window.context.close();
  });
});

describe('a security key', { timeout: TIMEOUT_MS }, () => {
  it('should be added under a name, answer at the login and at a step-up, and be removed', async () => {
    const window = await openWindow(browser, memory.url);
    const { page } = window;
    await plugIn(window);
    const { email } = await person('operator');
    await logIn(page, email, PASSWORD);
    await atHome(page);
    await page.goto('/account');
    const keys = page.getByRole('region', { name: 'Security keys' });
    await keys.getByText('Set up the app first').waitFor();

    const factor = page.getByRole('region', { name: 'Second factor' });
    await factor.getByRole('button', { name: 'Turn on' }).click();
    await factor.getByLabel('Current password').fill(PASSWORD);
    await factor.getByRole('button', { name: 'Show the secret' }).click();
    const secret = await textOf(factor.locator('.fs-code code'));
    await factor.getByLabel('Code').fill(codeOfApp(secret, memory.fixture.state.nowMs));
    await factor.getByRole('button', { name: 'Turn on' }).click();
    await factor.getByRole('button', { name: 'I have kept them' }).click();

    await keys.getByRole('button', { name: 'Add security key' }).click();
    await keys.getByLabel('Name of the key').fill('the blue one');
    await keys.getByRole('button', { name: 'Touch the key now' }).click();
    await keys.getByText('the blue one').waitFor();
    const found = [...(await lookAt(window, 'account-keys'))];

    await logOut(page);
    await logIn(page, email, PASSWORD);
    const use = page.getByRole('button', { name: 'Use a security key' });
    await use.waitFor();
    found.push(...(await lookAt(window, 'login-key')));
    await use.click();
    await atHome(page);

    // What asks for credentials shown lately takes the key beside the password.
    travel(FRESH_LOGIN_MS + TOTP_STEP_MS);
    await page.goto('/account');
    await keys.getByRole('button', { name: 'Remove the key the blue one' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Current password').fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Use a security key' }).waitFor();
    found.push(...(await lookAt(window, 'step-up-key')));
    await dialog.getByRole('button', { name: 'Use a security key' }).click();
    await keys.getByText('None yet').waitFor();
    expect(found).toEqual([]);
    expect(window.complaints).toEqual([]);

    await logOut(page);
    await logIn(page, email, PASSWORD);
    await page.getByLabel('Code').waitFor();
    expect(await use.count()).toBe(0);
    await window.context.close();
  });
});

describe('an account that is given more', { timeout: TIMEOUT_MS }, () => {
  it('should lose what it gets in with, as the page says before, and get a link for the next password', async () => {
    const { email } = await person('viewer');
    const window = await memory.windowOf(browser, 'admin');
    const { page } = window;
    await page.goto('/settings/users');
    await page.getByRole('button', { name: `Change ${email}` }).click();
    await page.getByRole('menuitem', { name: 'Role' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Role' }).click();
    await page.getByRole('option', { name: 'operator' }).click();
    await dialog.getByText('What the account gets in with ends').waitFor();
    const found = [...(await axeOn(page))];
    await dialog.getByRole('button', { name: 'Role' }).click();
    const secret = await textOf(dialog.locator('.fs-code code'));
    expect(secret).toMatch(/^svcl_/);
    expect(found).toEqual([]);
    expect(window.complaints).toEqual([]);
    await window.context.close();

    const own = await openWindow(browser, memory.url);
    await logIn(own.page, email, PASSWORD);
    await own.page.getByText('The e-mail address or the password is wrong').waitFor();
    const next = 'a password of the person alone';
    await own.page.goto('/login/reset');
    await own.page.getByLabel('One-time secret').fill(secret);
    for (const name of ['password', 'again']) {
      await own.page.locator(`input[name="${name}"]`).fill(next);
    }
    await own.page.getByRole('button', { name: 'Set password' }).click();
    await own.page.getByText(`The password of ${email} is set.`).waitFor();
    await logIn(own.page, email, next);
    await atHome(own.page);
    await own.context.close();
  });
});

describe('each role', { timeout: TIMEOUT_MS }, () => {
  const holds = (role: Role, scope: Scope) => ROLE_SCOPES[role].includes(scope);

  it('should be offered what it may do, and told which role the rest needs', async () => {
    for (const role of ROLES) {
      const window = await memory.windowOf(browser, role);
      const { page } = window;
      const offered = (name: string, kind: 'link' | 'button' = 'link') =>
        page.getByRole(kind, { name, exact: true }).count();
      await page.goto('/sensors');
      await page.getByRole('link', { name: 'node-0001' }).waitFor();
      expect([role, await offered('Audit')]).toEqual([role, holds(role, 'audit:read') ? 1 : 0]);
      expect([role, await offered('Deploy sensor')]).toEqual([
        role,
        holds(role, 'tokens:write') ? 1 : 0,
      ]);
      await page.goto(`/sensors/${sensorId}/overview`);
      await page.getByRole('heading', { name: 'node-0001' }).waitFor();
      // An owner's right reaches the own sensors alone, which the Console decides.
      if (role !== 'sensor_owner') {
        expect([role, await offered('Revoke sensor', 'button')]).toEqual([
          role,
          holds(role, 'sensors:write') ? 1 : 0,
        ]);
      }
      await page.goto('/settings/users');
      const isAllowed = holds(role, 'users:read');
      if (isAllowed) await page.getByRole('region', { name: 'Users' }).first().waitFor();
      else {
        const alert = page.getByRole('alert');
        await alert.waitFor();
        expect([role, await textOf(alert)]).toEqual([role, expect.stringContaining('admin')]);
      }
      await liveView(page, `1280-role-${role}`);
      expect(window.complaints).toEqual([]);
      await window.context.close();
    }
  });
});
