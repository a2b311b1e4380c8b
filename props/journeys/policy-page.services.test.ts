// What operators do with policies, in a browser: a pack is made, written with the judge beside it, signed as a version,
// filled from the library, compared and assigned. Each page in both colour schemes and on a phone. decision: D54, D82
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everySize, launchBrowser, type Watched } from './browser.ts';
import { type MemoryConsole, openMemoryConsole } from './memory-console.ts';

const TIMEOUT_MS = 600_000;

let memory: MemoryConsole;
let browser: Browser;
let window: Watched;
let page: Page;

const button = (name: string) => page.getByRole('button', { name, exact: true });
const dialog = () => page.getByRole('dialog');

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

describe('policies', { timeout: TIMEOUT_MS }, () => {
  it('should be written with their judge beside them, and signed as a version', async () => {
    await page.goto('/policies/packs');
    await page.getByText('No pack yet').waitFor();
    await everySize(page, 'packs-none');
    await button('Create pack').click();
    await dialog().getByLabel('Name').fill('web servers');
    await dialog().getByRole('button', { name: 'Create pack' }).click();
    await page.getByRole('heading', { name: 'Draft of web servers' }).waitFor();
    await page.getByPlaceholder('read-shadow').fill('read-shadow');
    await button('Add policy').click();
    await page.getByText(/^Good\. Honoured by: /).waitFor();
    await everySize(page, 'draft');
    const text = page.locator('.cm-content');
    await text.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('nonsense: [');
    await page.getByText('Not right').waitFor();
    await page
      .getByText(/^\d+:\d+$/)
      .first()
      .waitFor();
    await everySize(page, 'draft-wrong');
    for (let n = 0; n < 'nonsense: ['.length; n += 1) await page.keyboard.press('Backspace');
    await page.keyboard.press('Delete');
    await page.getByText(/^Good\. Honoured by: /).waitFor();
    await button('Save draft').click();
    await expect.poll(() => button('Publish').isEnabled()).toBe(true);
    await button('Publish').click();
    await dialog().getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('heading', { name: 'web servers', exact: true }).waitFor();
    await everySize(page, 'pack');
  });

  it('should be taken from the library, and differ from the version before', async () => {
    await page.goto('/policies/library');
    await page.getByRole('button', { name: 'attach-to-process', exact: true }).click();
    await dialog().getByText('apiVersion').first().waitFor();
    await dialog().getByLabel(/^Pack/).first().click();
    await page.getByRole('option', { name: 'web servers' }).click();
    await dialog().getByRole('button', { name: 'Add to a pack' }).click();
    await dialog().getByText('Added to the draft of web servers.').waitFor();
    await page.goto('/policies/packs');
    await page.getByRole('link', { name: 'web servers' }).click();
    await page.getByRole('link', { name: 'Edit draft' }).click();
    await page.getByText(/^Good\. Honoured by: /).waitFor();
    await button('Publish').click();
    await dialog().getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('heading', { name: 'web servers', exact: true }).waitFor();
    await page.goto(`${new URL(page.url()).pathname}?from=1&to=2`);
    await page.getByText('Added').first().waitFor();
    await everySize(page, 'pack-compared');
  });

  it('should be assigned to the fleet, whose sensor says which pack it is to have, and why', async () => {
    await page.goto('/policies/assignments');
    await page.getByText('Nothing is assigned').waitFor();
    await button('Assign').click();
    await dialog().getByLabel(/^Pack/).first().click();
    await page.getByRole('option', { name: 'web servers' }).click();
    await dialog().getByRole('button', { name: 'Assign', exact: true }).click();
    await page.getByRole('link', { name: 'web servers' }).first().waitFor();
    await everySize(page, 'assignments');
    for (const part of ['rollouts', 'drift', 'library', 'keys']) {
      await page.goto(`/policies/${part}`);
      await page.getByRole('heading', { name: 'Policies' }).waitFor();
      await everySize(page, part);
    }
    expect(window.complaints).toEqual([]);
  });
});
