// People who come in through a provider, in a real browser: a real provider, the local factor that it does not prove, a
// security key of the browser's own making beside it, and what the page tells of the login before. The address is written in
// other letters each time. decision: D40, D63, D64, D73
import type { Browser, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FRESH_LOGIN_MS } from '../../machines/console/access/limits.ts';
import { TOTP_STEP_MS } from '../../machines/limits.ts';
import { MINUTE_MS } from '../../machines/units.ts';
import { codeOfApp } from '../attacks/person-with-app.ts';
import { type OidcPeer, openOidcPeer } from '../peers/oidc-peer.ts';
import { everySize, launchBrowser, openWindow, textOf, type Watched } from './browser.ts';
import { type MemoryConsole, openMemoryConsole } from './memory-console.ts';

const TIMEOUT_MS = 600_000;
const HERE = ['127.0.0.0/8', '::1'];

let memory: MemoryConsole;
let peer: OidcPeer;
let browser: Browser;
beforeAll(async () => {
  // Second factors are asked as by default.
  memory = await openMemoryConsole({ ports: { settingDefaults: { webhook_allow_list: HERE } } });
  memory.fixture.addSensor(1);
  peer = await openOidcPeer({ redirectUri: `${memory.url}/api/v2/auth/sso/callback` });
  browser = await launchBrowser();
}, TIMEOUT_MS);
afterAll(async () => {
  await browser?.close();
  await peer?.close();
  await memory?.close();
}, TIMEOUT_MS);

const atHome = (page: Page) => page.getByRole('heading', { name: 'Overview' }).waitFor();
const travel = (ms: number) => {
  memory.fixture.state.nowMs += ms;
};

/** Sets the provider up as an admin's program does. */
async function setUp({ context }: Watched): Promise<void> {
  const made = await context.request.post(`${memory.url}/api/v2/sso-providers`, {
    headers: { authorization: `Bearer ${memory.fixture.addKey(['admin'])}` },
    data: {
      ...{ kind: 'oidc', name: 'Example', issuer: peer.issuer },
      ...{ client_id: peer.client.id, client_secret: peer.client.secret },
      options: { ca_pem: peer.caPem, group_roles: { ops: 'operator', none: 'viewer' } },
    },
  });
  expect([made.status(), await made.text()]).toEqual([201, expect.any(String)]);
}

/** A key that is touched as soon as it is asked; how to pull it out. */
async function plugIn(session: CDPSession): Promise<() => Promise<void>> {
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'usb', hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  return async () => {
    await session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
  };
}

async function logIn(page: Page, email: string, groups: readonly string[] = ['ops']) {
  // Time stands still here, and what an address may ask in a minute does not come back by itself.
  travel(MINUTE_MS);
  peer.logsIn('ada', { email, email_verified: true, groups, name: 'Ada' });
  await page.goto('/login');
  await page.getByRole('link', { name: 'Log in with Example' }).click();
}
async function logOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
}

describe('a login through a provider', { timeout: TIMEOUT_MS }, () => {
  it('should set up a local factor, take a security key from then on, and tell of the login before', async () => {
    const window = await openWindow(browser, memory.url);
    const { page, context } = window;
    await setUp(window);
    const cdp = await context.newCDPSession(page);
    await cdp.send('WebAuthn.enable');
    const pullOut = await plugIn(cdp);

    await logIn(page, 'Ada@Example.ORG');
    await page.getByRole('button', { name: 'Show the secret' }).click();
    const secret = await textOf(page.locator('.fs-code code'));
    const code = () => codeOfApp(secret, memory.fixture.state.nowMs);
    await page.getByLabel('Code').fill(code());
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('button', { name: 'I have kept them' }).click();
    await atHome(page);

    // There is no password to say again: the factor of here alone is asked.
    travel(FRESH_LOGIN_MS + TOTP_STEP_MS);
    await page.goto('/account');
    const keys = page.getByRole('region', { name: 'Security keys' });
    await keys.getByRole('button', { name: 'Add security key' }).click();
    await keys.getByLabel('Name of the key').fill('the blue one');
    await keys.getByRole('button', { name: 'Touch the key now' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Code').fill(code());
    expect(await dialog.getByLabel('Current password').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await keys.getByText('the blue one').waitFor();
    await logOut(page);

    // A refusal in between, with the address in other letters.
    await logIn(page, 'ada@example.org', []);
    await page.getByText('sso_account_refused').waitFor();
    await logIn(page, 'ADA@EXAMPLE.org');
    await page.getByRole('button', { name: 'Use a security key' }).click();
    await atHome(page);
    const notice = page.getByRole('region', { name: 'Last login' });
    await notice.waitFor();
    const told = await textOf(notice);
    for (const part of [
      ...['Last login on', 'from 127.0.0.1', 'One try was refused since.'],
      ...['Security key added', 'by user:Ada@Example.ORG', 'Was that not you?'],
    ]) {
      expect(told).toContain(part);
    }
    await everySize(page, 'last-login');
    // As high as what it says, also where the page below it leaves room.
    await page.goto('/sensors');
    await notice.waitFor();
    expect((await notice.boundingBox())?.height).toBeLessThan(350);
    await page.goto('/');
    travel(MINUTE_MS);
    await page.reload();
    await notice.getByRole('button', { name: 'I have read this' }).click();
    await notice.waitFor({ state: 'detached' });
    await page.reload();
    await atHome(page);
    expect(await notice.count()).toBe(0);

    const people = [...memory.fixture.stored.relational.state.users.values()];
    expect(people.map(({ email, role }) => [email, role])).toEqual([
      ['Ada@Example.ORG', 'operator'],
    ]);
    const logins = memory.fixture.state.audit.filter(
      ({ action, result }) => action === 'user.login' && result === 'ok',
    );
    expect(
      logins.map(({ detail }) => String(detail['method']).replace(/^sso:[^+]+/, 'sso')),
    ).toEqual(['sso+totp', 'sso+security_key']);

    // Another key is no key of hers; the app beside it still is.
    await logOut(page);
    await pullOut();
    await plugIn(cdp);
    await logIn(page, 'ada@example.ORG');
    await page.getByRole('button', { name: 'Use a security key' }).click();
    await page.getByText('No security key answered').waitFor();
    travel(TOTP_STEP_MS);
    await page.getByLabel('Code').fill(code());
    await page.getByRole('button', { name: 'Continue' }).click();
    await atHome(page);
    expect(window.complaints).toEqual([]);
    await context.close();
  });
});
