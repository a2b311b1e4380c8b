// The ways out in a browser: a webhook is added, tried, gets an alert and is sent it again; a SIEM destination gets a test
// event; exports get a folder, and their days are looked at. Each in both colour schemes and on a phone, against receivers
// that answer. decision: D54, D101, D157
import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWebhookReceiver, type WebhookReceiver } from '../peers/webhook-receiver.ts';
import { everySize, launchBrowser, type Watched } from './browser.ts';
import { shellFinding } from './findings.ts';
import { type MemoryConsole, openMemoryConsole } from './memory-console.ts';

const TIMEOUT_MS = 600_000;

let memory: MemoryConsole;
let receiver: WebhookReceiver;
let browser: Browser;
let window: Watched;
let page: Page;
let sensorId = '';
const button = (name: string) => page.getByRole('button', { name, exact: true });
const dialog = () => page.getByRole('dialog').last();
const field = (name: string) => dialog().getByLabel(name, { exact: false }).first();

async function raise(index: number): Promise<void> {
  const { nowMs } = memory.fixture.state;
  const finding = shellFinding({ index, sensorId, nowMs, eventId: randomUUID() });
  await memory.fixture.stored.relational.alerts.raise({ nowMs, findings: [finding] });
}

/** The deliveries that carried this alert, once there are so many; the word that one of them is dead is another alert. */
async function sent(headline: string, count: number) {
  const those = () =>
    receiver.received.filter(({ body }) => body.includes(`"headline":"${headline}"`));
  while (those().length < count) await receiver.has(receiver.received.length + 1);
  return those().map(({ headers }) => headers['x-service-delivery']);
}

async function removeByName(name: string): Promise<void> {
  await button('Remove').click();
  expect(await dialog().getByRole('button', { name: 'Remove' }).isDisabled()).toBe(true);
  await field('Name').fill(name);
  await dialog().getByRole('button', { name: 'Remove' }).click();
}

beforeAll(async () => {
  receiver = await openWebhookReceiver();
  memory = await openMemoryConsole();
  sensorId = memory.fixture.addSensor(1);
  const changed = await memory.fixture.settings.change({
    ...{ actor: 'test', values: { webhook_allow_list: ['127.0.0.1'] } },
    revisions: { webhook_allow_list: 0 },
  });
  expect(changed).toEqual({ ok: true });
  browser = await launchBrowser();
  window = await memory.windowOf(browser, 'admin');
  page = window.page;
}, TIMEOUT_MS);
afterAll(async () => {
  await browser?.close();
  await memory?.close();
  await receiver?.close();
}, TIMEOUT_MS);

describe('a webhook', { timeout: TIMEOUT_MS }, () => {
  it('should be added, with a secret that is shown once, and tried', async () => {
    await page.goto('/settings/webhooks');
    await page.getByText('No webhooks yet').waitFor();
    await everySize(page, 'webhooks-none');
    await button('Add webhook').click();
    await field('Name').fill('on call');
    await field('Address').fill(receiver.url());
    await field('CA of the receiver').fill(receiver.caPem);
    await everySize(page, 'webhook-form');
    await dialog().getByRole('button', { name: 'Add', exact: true }).click();
    await dialog().getByText('Signing secret, shown this once').waitFor();
    await dialog().getByRole('button', { name: 'Done' }).click();
    await button('Send a test').click();
    await page.getByText('It arrived.').waitFor();
    expect(receiver.received).toHaveLength(1);
    expect(receiver.received[0]?.headers['x-service-signature']).toMatch(/^sha256=/);
    await page.getByText('Nothing was sent yet').waitFor();
    await everySize(page, 'webhooks');
  });

  it('should show what became of an alert, every attempt, and send it again', async () => {
    const headlineOf2 = 'Shell below a web server, number 2';
    receiver.answerWith({ status: 400, body: 'no such <b>route</b>' });
    await raise(2);
    await sent(headlineOf2, 1);
    const headline = button(headlineOf2);
    await page.reload();
    await headline.waitFor();
    await page.getByText(/^answered 400, /).waitFor();
    await page.getByText('the last one failed').waitFor();
    await everySize(page, 'deliveries');
    await headline.click();
    await dialog().getByText(/^1\. /).click();
    await dialog().getByText('no such <b>route</b>').waitFor();
    await everySize(page, 'delivery');
    receiver.answerWith({ status: 204 });
    await dialog().getByRole('button', { name: 'Send again' }).click();
    const [first, again] = await sent(headlineOf2, 2);
    expect(first).toBeTruthy();
    expect(again).toBe(first);
    await page.keyboard.press('Escape');
  });

  it('should have samples of four languages, be paused, and be removed by its name', async () => {
    await page.reload();
    for (const tab of await page.getByRole('tab').all()) {
      const name = (await tab.textContent()) ?? '';
      if (!/^(Python|Node|Go|Ruby)/.test(name)) continue;
      await tab.click();
      await page.locator('pre:visible').first().waitFor();
    }
    await everySize(page, 'webhook-samples');
    await button('Pause').click();
    await page.getByText('paused', { exact: true }).waitFor();
    await removeByName('on call');
    await page.getByText('No webhooks yet').waitFor();
    expect(window.complaints).toEqual([]);
  });
});

it('a SIEM destination should be added, tried, say how far it is, and be removed by its name', {
  timeout: TIMEOUT_MS,
}, async () => {
  receiver.answerWith({ status: 200, body: '{}' });
  await page.goto('/settings/siem');
  await page.getByText('No SIEM destinations yet').waitFor();
  await everySize(page, 'siem-none');
  await button('Add SIEM').click();
  await field('Name').fill('the lake');
  await field('Address').fill(receiver.url('/v1/http'));
  await field('Token').fill('a-token-of-observe');
  await field('Filter').fill('severity:high');
  await field('CA of the receiver').fill(receiver.caPem);
  await everySize(page, 'siem-form');
  await dialog().getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('severity:high').waitFor();
  await button('Send a test event').click();
  await page.getByText('It arrived.').waitFor();
  await everySize(page, 'siem');
  await button('Pause').click();
  await page.getByText('paused', { exact: true }).waitFor();
  await removeByName('the lake');
  await page.getByText('No SIEM destinations yet').waitFor();
  expect(window.complaints).toEqual([]);
});

it('exports should get a target that is tried before anything goes there, and show their days', {
  timeout: TIMEOUT_MS,
}, async () => {
  await page.goto('/settings/exports');
  await page.getByText('Exports have no target yet').waitFor();
  await everySize(page, 'exports-none');
  await button('Set up exports').click();
  await everySize(page, 'exports-form');
  await dialog().getByLabel('Where to').click();
  await page.getByRole('option', { name: /^Folder/ }).click();
  await field('Prefix').fill('fleet');
  await dialog().getByRole('button', { name: 'Save' }).click();
  await button('Test the target').waitFor();
  await button('Test the target').click();
  await everySize(page, 'exports');
  expect(window.complaints).toEqual([]);
});
