// Every page as wide as it gets and as narrow as 400 % zoom makes it: nothing is cut off, nothing scrolls sideways but
// tables, axe finds nothing.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeOn, launchBrowser, liveView, type Watched } from './browser.ts';
import { type MemoryConsole, openMemoryConsole } from './memory-console.ts';

const TIMEOUT_MS = 600_000;
const SENSORS = 120;
/** 1280 px at 400 %, which is what a reader with weak eyes has. */
const ZOOMED_PX = 320;
const WIDE_PX = 2_560;
const PAGES = [
  ...['/', '/sensors', '/events', '/actors', '/coverage', '/audit', '/deploy', '/help', '/docs'],
  ...['/settings/general', '/settings/users', '/settings/groups', '/settings/tokens', '/account'],
];

let memory: MemoryConsole;
let browser: Browser;
let window: Watched;
let sensorId = '';

beforeAll(async () => {
  memory = await openMemoryConsole();
  const { fixture } = memory;
  for (let index = 0; index < SENSORS; index += 1) {
    sensorId = fixture.addSensor(index);
    const row = fixture.state.sensors.get(sensorId);
    if (row === undefined) throw new Error('it was added');
    fixture.state.sensors.set(sensorId, { ...row, sensorVersion: `1.${index % 3}.0` });
  }
  browser = await launchBrowser();
  window = await memory.windowOf(browser, 'admin');
}, TIMEOUT_MS);
afterAll(async () => {
  await browser?.close();
  await memory?.close();
}, TIMEOUT_MS);

describe('every page', { timeout: TIMEOUT_MS }, () => {
  it.each([
    ['2560 px', WIDE_PX],
    ['400 %', ZOOMED_PX],
  ])('should fit at %s', async (_name, width) => {
    const { page, complaints } = window;
    await page.setViewportSize({ width, height: width === WIDE_PX ? 1_440 : 640 });
    const tabs = ['overview', 'actor', 'certificate'].map((tab) => `/sensors/${sensorId}/${tab}`);
    const found: string[] = [];
    for (const path of [...PAGES, ...tabs]) {
      await page.goto(path);
      await page.locator('main h1').first().waitFor();
      await page.locator('main [role="status"][aria-label]').first().waitFor({ state: 'detached' });
      const name = path.replace(sensorId, 'ID').replaceAll('/', '-');
      await liveView(page, `${width}${name}`);
      const wide = await page.evaluate('document.documentElement.scrollWidth');
      if (wide !== width) found.push(`${path} is ${wide} px wide in ${width}`);
      found.push(...(await axeOn(page)).map((one) => `${path} ${one}`));
    }
    expect(found).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
