// From nothing to the first event, by the page alone: the wizard of a Console that was told nothing, the login, the token,
// and a Sensor that is started by the very line the page shows. decision: D42, D54
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { codeOfApp } from '../attacks/person-with-app.ts';
import { axeOn, launchBrowser, liveView, logIn, openWindow, textOf } from './browser.ts';
import { type Home, makeHome, type Program, removeHome, startProgram } from './programs.ts';

const START_MS = 180_000;
const TEST_MS = 300_000;
const EMAIL = 'ada@example.org';
const PASSWORD = 'a long walk along the quiet shore';

let home: Home;
let browser: Browser;
const programs: Program[] = [];

beforeAll(async () => {
  home = await makeHome({ HEARTBEAT_INTERVAL_MS: 5_000, HEARTBEAT_TIMEOUT_MS: 5_000 });
  rmSync(join(home.consoleDir, 'console.yaml'));
  browser = await launchBrowser();
}, START_MS);

afterAll(async () => {
  await browser?.close();
  for (const program of programs.reverse()) {
    program.kill('SIGTERM');
    await program.exited;
  }
  await removeHome(home);
}, START_MS);

it('should lead from the setup code to the first event', { timeout: TEST_MS }, async () => {
  const served = startProgram('gateway/cli/service-console.js', ['serve'], { env: home.env });
  programs.push(served);
  const code = (await served.prints(/Setup code {2}[0-9A-Z-]{14}/, START_MS)).slice(-14);
  const { page, complaints } = await openWindow(browser, `https://localhost:${home.port}`);

  await page.goto('/');
  await page.getByLabel('Setup code').fill('AAAA-AAAA-AAAA');
  await page.getByRole('button', { name: 'Open the setup' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Setup code').fill(code);
  await page.getByRole('button', { name: 'Open the setup' }).click();
  for (const step of ['platform', 'database', 'analytics']) {
    await page.locator(`[data-step="${step}"]`).getByRole('button', { name: 'Save' }).click();
    await page.locator(`[data-step="${step}"][data-done="true"]`).waitFor();
  }
  expect(await axeOn(page)).toEqual([]);
  await liveView(page, '1280-setup');
  const admin = page.locator('[data-step="admin"]');
  await admin.getByLabel('E-mail address').fill(EMAIL);
  await admin.locator('input[name="password"]').fill(PASSWORD);
  await admin.locator('input[name="again"]').fill(PASSWORD);
  await admin.getByRole('button', { name: 'Save' }).click();
  await page.locator('[data-step="admin"][data-done="true"]').waitFor();
  await page.getByRole('button', { name: 'Finish and start' }).click();

  await page.getByRole('heading', { name: 'Log in' }).waitFor({ timeout: START_MS });
  expect(await axeOn(page)).toEqual([]);
  await logIn(page, EMAIL, PASSWORD);
  // An administrator needs a second factor: the first login sets it up.
  await page.getByRole('button', { name: 'Show the secret' }).click();
  const secret = await textOf(page.locator('.fs-code code'));
  await page.getByLabel('Code').fill(codeOfApp(secret, Date.now()));
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('button', { name: 'I have kept them' }).click();
  await page.getByRole('heading', { name: 'Deploy the first sensor' }).waitFor();
  await page.getByRole('button', { name: 'Make a token' }).click();
  const lines = page.locator('.fs-code code');
  await lines.nth(1).waitFor();
  const [token, line] = [await textOf(lines.nth(0)), await textOf(lines.nth(1))];
  expect(await axeOn(page)).toEqual([]);
  await liveView(page, '1280-deploy');
  // Whoever opens the events before there are any sees the first ones come.
  const early = await page.context().newPage();
  await early.goto('/events');
  await early.getByText('No events in this range').waitFor();
  // The script of the line is pasted elsewhere; what it starts is the Sensor with the same words.
  const [, url = ''] = / --url (\S+)/.exec(line) ?? [];
  const [, fingerprint = ''] = / --ca-fingerprint (\S+)/.exec(line) ?? [];
  const args = ['run', '--url', url, '--ca-fingerprint', fingerprint, '--token-file', '-'];
  programs.push(
    startProgram('sensor/cli/service-sensor.js', args, { env: home.env, stdin: `${token}\n` }),
  );
  await page.getByRole('link', { name: 'Show the sensor' }).click();
  await page.getByRole('link', { name: 'Events', exact: true }).last().click();
  for (const one of [page, early]) {
    await one.locator('table tbody .fs-row-button').first().waitFor();
  }
  await liveView(page, '1280-first-event');
  // The Console that ends and the one that starts are one address: what broke off in between is no mistake of the page.
  expect(complaints.filter((one) => !/WebSocket|ERR_/.test(one))).toEqual([]);
});
