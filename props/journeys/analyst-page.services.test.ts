// What analysts work with, in a browser: a condition as chips, the histogram's brush, the drawer and the live tail of events;
// the inbox worked off by keys; a rule that is tried before it is saved; a saved search; an investigation. Each in both
// colour schemes and on a phone. decision: D54
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storedEvent } from '../../gateway/operator-plane/plumbing/operator-plane.fixture.ts';
import { axeOn, everySize, launchBrowser, liveView, type Watched } from './browser.ts';
import { shellFinding } from './findings.ts';
import { type MemoryConsole, openMemoryConsole } from './memory-console.ts';

type StoredEvent = ReturnType<typeof storedEvent>;
const TIMEOUT_MS = 600_000;
const EVENTS = 60;

let memory: MemoryConsole;
let browser: Browser;
let window: Watched;
let page: Page;
let sensorId = '';
let published = 0;

const at = (agoMs: number) => new Date(memory.fixture.state.nowMs - agoMs).toISOString();
const button = (name: string | RegExp) => page.getByRole('button', { name });
const shown = () => page.locator('table[aria-label="Events"] tbody tr, tbody tr');
const searchOf = () => new URL(page.url()).searchParams;

function eventOf(index: number, more: Partial<StoredEvent> = {}): StoredEvent {
  const isCurl = index % 3 === 0;
  const binary = isCurl ? '/usr/bin/curl' : '/usr/sbin/nginx';
  return storedEvent(index, {
    ...{ sensor_id: sensorId, observed_at: at(index * 50_000), received_at: at(index * 50_000) },
    ...{ severity: isCurl ? 'high' : 'info', message: `${binary} (${index}) started` },
    process: {
      exec_id: `x${index}`,
      pid: index,
      uid: isCurl ? 0 : 33,
      binary,
      arguments: `-s ${index}`,
    },
    parent: { exec_id: 'shell', pid: 2, binary: '/bin/bash' },
    ancestors: [{ exec_id: 'init', pid: 1, binary: '/sbin/init' }],
    ...more,
  });
}

beforeAll(async () => {
  memory = await openMemoryConsole();
  sensorId = memory.fixture.addSensor(1);
  const { events } = memory.fixture.state;
  for (let index = 1; index <= EVENTS; index += 1) events.push(eventOf(index));
  const { nowMs } = memory.fixture.state;
  const findings = [1, 2, 3, 4, 5].map((index) =>
    shellFinding({ index, sensorId, nowMs, eventId: eventOf(3).event_id }),
  );
  await memory.fixture.stored.relational.alerts.raise({ nowMs, findings });
  browser = await launchBrowser();
  window = await memory.windowOf(browser, 'admin');
  page = window.page;
}, TIMEOUT_MS);
afterAll(async () => {
  await browser?.close();
  await memory?.close();
}, TIMEOUT_MS);

describe('the events', { timeout: TIMEOUT_MS }, () => {
  it('should be asked by a condition whose parts are chips, and say where it is wrong', async () => {
    await page.goto('/events');
    await shown().first().waitFor();
    const bar = page.locator('[data-query-bar]');
    await bar.fill('binary:*/curl and (');
    await page.keyboard.press('Escape');
    await page.locator('.fs-query').getByRole('button', { name: 'Search' }).click();
    await page
      .getByRole('alert')
      .getByText(/At character \d+/)
      .waitFor();
    await bar.fill('process.binary:*/curl and process.uid:0');
    await page.keyboard.press('Enter');
    await button(/^Remove the filter .*uid:0$/).waitFor();
    expect(searchOf().get('q')).toBe('process.binary:*/curl and process.uid:0');
    await everySize(page, 'events-chips');
    await page
      .locator('.fs-chip')
      .getByText(/binary:.*curl/)
      .click();
    await page.locator('.fs-chip[data-not="true"]').waitFor();
    await button(/^Remove the filter .*uid:0$/).click();
    await page.getByText('/usr/sbin/nginx (1) started').first().waitFor();
    expect(await page.getByText('/usr/bin/curl (3) started').count()).toBe(0);
    // A value of what is found becomes a part.
    await page.goto('/events');
    await button(/^Only .*process_exec/)
      .first()
      .click();
    await button(/^Remove the filter event_kind/).waitFor();
  });

  it('should be looked at closer where the histogram is marked, by keys and by the pointer', async () => {
    await page.goto('/events');
    const bars = page.getByRole('slider');
    await bars.waitFor();
    await bars.focus();
    await page.keyboard.press('End');
    for (let step = 0; step < 12; step += 1) await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Enter');
    await expect.poll(() => searchOf().has('to')).toBe(true);
    const [from, to] = [searchOf().get('from') ?? '', searchOf().get('to') ?? ''];
    expect(Date.parse(to)).toBeGreaterThan(Date.parse(from));
    await page.goto('/events');
    await bars.waitFor();
    const box = await bars.boundingBox();
    if (box === null) throw new Error('no bars');
    await page.mouse.move(box.x + box.width / 4, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, box.y + 10, { steps: 4 });
    await liveView(page, '1280-events-brush');
    await page.mouse.up();
    await expect.poll(() => searchOf().has('to')).toBe(true);
  });

  it('should open beside the list, be turned over by keys, and give parts of a condition', async () => {
    await page.goto('/events');
    await shown().locator('.fs-row-button').first().click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText('-s 1').first().waitFor();
    await everySize(page, 'event-drawer');
    await page.keyboard.press('j');
    await drawer.getByText('-s 2').first().waitFor();
    await page.keyboard.press('k');
    await drawer.getByText('-s 1').first().waitFor();
    for (const tab of ['Ancestry', 'Process tree', 'Why unusual', 'JSON']) {
      await drawer.getByRole('tab', { name: tab }).click();
      await drawer.getByRole('tabpanel').first().waitFor();
      await liveView(page, `1280-event-drawer-${tab.replaceAll(' ', '-')}`);
      expect([tab, await axeOn(page)]).toEqual([tab, []]);
    }
    await drawer.getByRole('tab', { name: 'Event' }).click();
    await drawer.getByRole('button', { name: 'Only process.binary' }).click();
    await page.keyboard.press('Escape');
    await button(/^Remove the filter process.binary/).waitFor();
  });

  it('should come in at the top while they are followed, and wait while somebody reads', async () => {
    await page.goto('/events');
    await button('Live tail').click();
    await page.getByText('New events come in at the top.').waitFor();
    publish('first live');
    await page.getByText('first live').first().waitFor();
    await button('Pause').click();
    publish('second live');
    await button('Show 1 new').waitFor();
    expect(await page.getByText('second live').count()).toBe(0);
    await everySize(page, 'events-tail');
    await button('Show 1 new').click();
    await page.getByText('second live').first().waitFor();
    expect(window.complaints).toEqual([]);
  });
});

/** One event as the Console just stored it. */
function publish(message: string): void {
  published += 1;
  const observed_at = new Date().toISOString();
  const event = eventOf(10_000 + published, { message, observed_at });
  memory.publish({
    ...{ sensorId, nodeName: event.node_name, streamId: 'live', channel: 'stream' },
    ...{ sequence: published, digest: String(published), receivedAtMs: Date.now() },
    events: [event],
  } as never);
}

describe('alerts', { timeout: TIMEOUT_MS }, () => {
  it('should be worked off by keys', async () => {
    await page.goto('/alerts');
    await page.getByText('number 1').waitFor();
    await everySize(page, 'alerts-inbox');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText('2 selected').waitFor();
    await liveView(page, '1280-alerts-marked');
    await page.keyboard.press('e');
    await expect
      .poll(() => page.locator('.fs-inbox-row').getByText('acknowledged').count())
      .toBe(2);
    const listed = await page.locator('.fs-inbox-row').count();
    await page.keyboard.press('r');
    await expect.poll(() => page.locator('.fs-inbox-row').count()).toBe(listed - 1);
    await page.keyboard.press('j');
    await page.keyboard.press('o');
    await page.getByRole('heading', { name: 'History' }).waitFor();
    await page.goto('/alerts');
    await page.getByText('number 1').click();
    await page.getByText('nginx began bash.').waitFor();
    await page.getByText('Related events').waitFor();
    await button('Acknowledge').or(button('Assign to me')).first().waitFor();
    await page.getByRole('textbox', { name: 'Comment' }).fill('Looked at: <b>it is ours</b>');
    await button('Write').click();
    await page.getByText('<b>it is ours</b>').waitFor();
    await everySize(page, 'alert');
    expect(window.complaints).toEqual([]);
  });

  it('should come of a rule that was tried on stored events before it was saved', async () => {
    await page.goto('/alert-rules/new');
    const text = page.getByLabel('The rule as JSON');
    await text.fill('{');
    await button('Save').click();
    await page.getByText('This is no JSON.').waitFor();
    const spec = {
      ...{ rule_name: 'Curl by root', severity: 'high' },
      detect: { kind: 'match', condition: 'process.binary:*/curl and process.uid:0' },
    };
    await text.fill(JSON.stringify(spec, null, 2));
    await button('Try on the last day').click();
    await page.getByRole('heading', { name: 'What it would have found' }).waitFor();
    await page.getByText('Events looked at').waitFor();
    await everySize(page, 'alert-rule-tried');
    await button('Save').click();
    await page.getByRole('link', { name: 'Curl by root' }).waitFor();
    await everySize(page, 'alert-rules-list');
    await page.getByRole('link', { name: 'Curl by root' }).click();
    await page.getByRole('heading', { name: 'Versions' }).waitFor();
    expect(window.complaints).toEqual([]);
  });
});

describe('a hunt', { timeout: TIMEOUT_MS }, () => {
  const dialog = () => page.getByRole('dialog');

  it('should save a search with a threshold, and lead back to its events', async () => {
    await page.goto('/searches');
    await page.getByRole('heading', { name: 'No saved searches' }).waitFor();
    await button('Save a search').first().click();
    await dialog().getByLabel('Name').fill('Curl by root');
    await dialog()
      .getByLabel(/^Condition/)
      .fill('process.binary:*/curl and process.uid:0');
    await dialog()
      .getByLabel(/^Threshold/)
      .fill('5');
    await everySize(page, 'search-form');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'Curl by root' }).waitFor();
    await everySize(page, 'searches-list');
    await page.getByRole('link', { name: 'Curl by root' }).click();
    await button(/^Remove the filter .*uid:0$/).waitFor();
    expect(window.complaints).toEqual([]);
  });

  it('should collect in an investigation, close it, and open it again', async () => {
    await page.goto('/investigations');
    await button('Begin an investigation').first().click();
    await dialog().getByLabel('Name').fill('Who runs curl');
    await dialog().getByLabel('What it is about').fill('Root runs curl on a web server.');
    await everySize(page, 'investigation-form');
    await dialog().getByRole('button', { name: 'Begin an investigation' }).click();
    await page.getByRole('heading', { name: 'Who runs curl' }).waitFor();
    const collect = page.getByRole('form', { name: 'Add a note, an alert or a sensor' });
    await collect.getByLabel('Note').fill('It began at noon.');
    await collect.getByRole('button', { name: 'Add' }).click();
    await page.locator('.fs-ancestry').getByText('It began at noon.').waitFor();
    expect(await collect.getByLabel('Note').inputValue()).toBe('');
    await collect.getByLabel('Sensor id').fill(sensorId);
    await collect.getByRole('button', { name: 'Add' }).click();
    await page.getByText('node-0001').first().waitFor();
    await everySize(page, 'investigation');
    await button('Close').click();
    await page.getByText('Closed').first().waitFor();
    await button('Open again').click();
    await button('Close').waitFor();
    await page.goto('/investigations');
    await page.getByRole('link', { name: 'Who runs curl' }).waitFor();
    await everySize(page, 'investigations-list');
    expect(window.complaints).toEqual([]);
  });

  it('should plan an exercise, and say what to run on each node', async () => {
    await page.goto('/exercises');
    await button('Plan an exercise').first().click();
    await dialog().getByLabel('Name').fill('Drill');
    await dialog()
      .getByRole('combobox', { name: 'Steps' })
      .or(dialog().getByLabel('Steps'))
      .first()
      .click();
    await page.getByRole('option').first().click();
    await dialog().getByLabel('Name').click();
    await dialog().getByLabel('Sensors').first().click();
    await page.getByRole('option', { name: 'node-0001' }).click();
    await dialog().getByLabel('Name').click();
    await everySize(page, 'exercise-form');
    await dialog().getByRole('button', { name: 'Plan an exercise' }).click();
    await button('Start').click();
    await page.getByText('On each node:').waitFor();
    await everySize(page, 'exercise-running');
    expect(window.complaints).toEqual([]);
  });
});
