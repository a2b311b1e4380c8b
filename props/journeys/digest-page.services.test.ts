// A daily digest set up in a browser, looked at as a mail shows it, switched and removed. In both colour schemes and on a phone.
// decision: D54, D166
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { everySize, launchBrowser, type Watched } from './browser.ts';
import { type MemoryConsole, openMemoryConsole } from './memory-console.ts';

const TIMEOUT_MS = 600_000;

let memory: MemoryConsole;
let browser: Browser;
let window: Watched;
let page: Page;
const dialog = () => page.getByRole('dialog').last();

beforeAll(async () => {
  memory = await openMemoryConsole();
  memory.fixture.addSensor(1);
  browser = await launchBrowser();
  window = await memory.windowOf(browser, 'admin');
  page = window.page;
}, TIMEOUT_MS);
afterAll(async () => {
  await browser?.close();
  await memory?.close();
}, TIMEOUT_MS);

it('should be set up, shown as its mail, and removed by its name', {
  timeout: TIMEOUT_MS,
}, async () => {
  await page.goto('/settings/digests');
  await page.getByText('No daily digests yet').waitFor();
  await everySize(page, 'digests-none');
  await page.getByRole('button', { name: 'Add digest' }).click();
  await dialog().getByLabel('Name', { exact: false }).first().fill('every morning');
  await dialog().getByLabel('Mail server').fill('mail.example.org');
  await dialog().getByLabel('Sender').fill('console@example.org');
  await dialog().getByLabel('Recipients, one a line').fill('ada@example.org\nbob@example.org');
  await everySize(page, 'digest-form');
  await dialog().getByRole('button', { name: 'Save' }).click();
  await page.getByText('ada@example.org, bob@example.org').waitFor();
  await everySize(page, 'digests');
  await page.getByRole('button', { name: 'Preview' }).click();
  const mail = page.frameLocator('iframe[title="Preview"]');
  await mail.getByRole('heading', { name: 'Sensors', exact: true }).waitFor();
  await everySize(page, 'digest');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Days' }).click();
  await dialog().getByText('No day was due yet.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Remove' }).click();
  await dialog().getByLabel('Name').fill('every morning');
  await dialog().getByRole('button', { name: 'Remove' }).click();
  await page.getByText('No daily digests yet').waitFor();
  // What looks for faults wants to run in the frame of the mail, too, where nothing runs.
  const blocked = /^Blocked script execution in 'about:srcdoc'/;
  expect(window.complaints.filter((one) => !blocked.test(one))).toEqual([]);
});
