// A daily digest set up in a browser, looked at as a mail shows it, switched and removed. In both colour schemes and on a phone.
// decision: D54, D166
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { axeOn, launchBrowser, liveView, type Watched } from './browser.ts';
import { type MemoryConsole, openMemoryConsole } from './memory-console.ts';

const TIMEOUT_MS = 600_000;
const PHONE_PX = 375;
const WIDE_PX = 1_280;

let memory: MemoryConsole;
let browser: Browser;
let window: Watched;
let page: Page;
const dialog = () => page.getByRole('dialog').last();

async function everySize(name: string): Promise<void> {
  for (const width of [WIDE_PX, PHONE_PX]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await liveView(page, `${width}-${name}-${colorScheme}`);
      if (width === PHONE_PX) continue;
      expect([name, width, colorScheme, await axeOn(page)]).toEqual([name, width, colorScheme, []]);
    }
    const wide = await page.evaluate('document.documentElement.scrollWidth');
    expect([name, wide]).toEqual([name, width]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: WIDE_PX, height: 900 });
}

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
  await everySize('digests-none');
  await page.getByRole('button', { name: 'Add digest' }).click();
  await dialog().getByLabel('Name', { exact: false }).first().fill('every morning');
  await dialog().getByLabel('Mail server').fill('mail.example.org');
  await dialog().getByLabel('Sender').fill('console@example.org');
  await dialog().getByLabel('Recipients, one a line').fill('ada@example.org\nbob@example.org');
  await everySize('digest-form');
  await dialog().getByRole('button', { name: 'Save' }).click();
  await page.getByText('ada@example.org, bob@example.org').waitFor();
  await everySize('digests');
  await page.getByRole('button', { name: 'Preview' }).click();
  const mail = page.frameLocator('iframe[title="Preview"]');
  await mail.getByRole('heading', { name: 'Sensors', exact: true }).waitFor();
  await everySize('digest');
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
