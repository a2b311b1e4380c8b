// The page as a person has it, in a real browser on a Console with ten thousand sensors and one real Sensor: bytes and time of
// the first load, a filter on the Console's side, an event from the node to its row, and the paints and the memory of a
// live tail that sees an hour's events. Needs root (the engine) and chromium.
//   node props/bench/page.ts [--sensors 10000] [--rows 100] [--tail-seconds 360]
import { execFileSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { api } from '../journeys/api.ts';
import { launchBrowser, logIn, openWindow } from '../journeys/browser.ts';
import { createToken, startSensor } from '../journeys/fleet.ts';
import { eventually, type Program } from '../journeys/programs.ts';
import { type BenchHome, openBenchHome } from './bench-console.ts';
import { type Fleet, prepareFleet } from './fleet.ts';
import type { LoadPlan } from './load.ts';

const ADMIN = 'admin@localhost';
const OWN = 'a long walk along the quiet shore';
const LOADS = 5;
const FILTERS = [
  'trust_health=degraded',
  'os=Debian&freshness=stale',
  'node_name=bench-77',
  'stream=closed&sort=-node_name',
  'sensor_version=0.1.0&engine=running',
];
const THROTTLE = 4;
const MIB = 1_024 * 1_024;
const UPDATES_PER_SECOND = 60;
const PAINT_SECONDS = 30;
const say = (text: string) => process.stdout.write(`${text}\n`);
const options = readOptions();
const opened = await openBenchHome();
const { home } = opened;
let sensor: Program | null = null;
let browser: Browser | null = null;

try {
  const fleet = await prepareFleet(home.consoleDir, options.sensors);
  const gateway = await opened.startGateway();
  const told = await gateway.prints(/Password\s+\S+/);
  browser = await launchBrowser();
  const page = await someoneIn(browser, told.split(/\s+/)[1] ?? '');
  await firstLoad(page);
  await filters();
  sensor = startSensor(home, { token: await createToken(home) });
  await running();
  await rows(page);
  await tail(page, { ...opened, fleet });
} finally {
  await browser?.close();
  sensor?.kill('SIGTERM');
  await sensor?.exited;
  await opened.tidy();
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      sensors: { type: 'string', default: '10000' },
      rows: { type: 'string', default: '100' },
      'tail-seconds': { type: 'string', default: '360' },
    },
  });
  return {
    ...{ sensors: Number(values.sensors), rows: Number(values.rows) },
    tailSeconds: Number(values['tail-seconds']),
  };
}

async function someoneIn(of: Browser, password: string): Promise<Page> {
  const { page } = await openWindow(of, `https://localhost:${home.port}`);
  await logIn(page, ADMIN, password);
  await page.getByRole('heading', { name: 'Set a password of your own' }).waitFor();
  for (const [name, value] of Object.entries({ current: password, next: OWN, again: OWN })) {
    await page.locator(`input[name="${name}"]`).fill(value);
  }
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  return page;
}

async function useful(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor();
  await page.locator('main [role="status"][aria-label]').first().waitFor({ state: 'detached' });
}

/** Without anything in its cache, on a processor that is so many times slower. */
async function firstLoad(page: Page): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Network.enable');
  await cdp.send('Network.setCacheDisabled', { cacheDisabled: true });
  const bytes = { page: 0, heads: 0, data: 0 };
  const addresses = new Map<string, string>();
  const isData = (id: string): boolean => addresses.get(id)?.includes('/api/') ?? false;
  cdp.on('Network.requestWillBeSent', ({ requestId, request }) => {
    addresses.set(requestId, request.url);
  });
  cdp.on('Network.dataReceived', ({ requestId, encodedDataLength }) => {
    bytes[isData(requestId) ? 'data' : 'page'] += encodedDataLength;
  });
  cdp.on('Network.responseReceived', ({ requestId, response }) => {
    if (!isData(requestId)) bytes.heads += response.encodedDataLength;
  });
  for (const rate of [1, THROTTLE]) {
    await cdp.send('Emulation.setCPUThrottlingRate', { rate });
    const took: number[] = [];
    for (let load = 0; load < LOADS; load += 1) {
      Object.assign(bytes, { page: 0, heads: 0, data: 0 });
      const began = performance.now();
      await page.goto('/');
      await useful(page);
      took.push(performance.now() - began);
    }
    const each = took.map((ms) => ms.toFixed(0)).join(', ');
    say(
      `first load at 1/${rate} speed: useful after ${middleOf(took).toFixed(0)} ms (${each}); ` +
        `${kb(bytes.page)} of page, ${kb(bytes.heads)} of its headers, ${kb(bytes.data)} of answers`,
    );
  }
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  await cdp.send('Network.setCacheDisabled', { cacheDisabled: false });
  await cdp.detach();
}

async function filters(): Promise<void> {
  for (const filter of FILTERS) {
    const took: number[] = [];
    for (let time = 0; time < 10; time += 1) {
      const began = performance.now();
      const { status } = await api(home, 'GET', `/api/v2/sensors?limit=100&${filter}`);
      if (status !== 200) throw new Error(`${filter}: ${status}`);
      took.push(performance.now() - began);
    }
    say(
      `${options.sensors} sensors by ${filter}: ${middleOf(took).toFixed(0)} ms, worst ${Math.max(...took).toFixed(0)}`,
    );
  }
}

function running(): Promise<true> {
  return eventually('the engine runs', async () => {
    const { body } = await api(home, 'GET', '/api/v2/sensors?engine=running&limit=1');
    return (body as { items: unknown[] }).items.length > 0 ? true : null;
  });
}

/** From the start of a program on the node to the row that tells of it. */
async function rows(page: Page): Promise<void> {
  const program = join(home.folder, 'marked');
  copyFileSync('/bin/true', program);
  await followTail(page, `?q=${encodeURIComponent(`binary:${program}`)}`);
  await page.evaluate(`
    window.seen = {};
    new MutationObserver(() => {
      const now = Date.now();
      for (const [mark] of document.body.textContent.matchAll(/mark-\\d+-/g)) window.seen[mark] ??= now;
    }).observe(document.body, { subtree: true, childList: true, characterData: true });`);
  const began = new Map<string, number>();
  for (let row = 0; row < options.rows; row += 1) {
    const mark = `mark-${row}-`;
    began.set(mark, Date.now());
    execFileSync(program, [mark]);
    await wait(300 + Math.random() * 400);
  }
  await wait(3_000);
  const seen = await page.evaluate<Record<string, number>>('window.seen');
  const took = [...began].flatMap(([mark, ms]) =>
    seen[mark] === undefined ? [] : seen[mark] - ms,
  );
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(share * took.length))];
  say(
    `event on the node to row: ${took.length} of ${began.size} seen; p50 ${at(0.5)} ms, ` +
      `p99 ${at(0.99)} ms, worst ${took.at(-1)} ms`,
  );
}

/** Paints in the worst second of a live tail that is offered many events, and whether typing beside it loses a letter. */
async function paints(page: Page): Promise<string> {
  await page.evaluate(`
    window.painted = [];
    let isDirty = false;
    new MutationObserver(() => { isDirty = true; }).observe(document.querySelector('main'),
      { subtree: true, childList: true, characterData: true });
    const frame = () => {
      if (isDirty) window.painted.push(performance.now());
      isDirty = false;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);`);
  await wait(PAINT_SECONDS * 1_000);
  const frames = await page.evaluate<number[]>('window.painted');
  const inSecond = frames.map(
    (from) => frames.filter((at) => at >= from && at < from + 1_000).length,
  );
  const box = page.locator('main input:visible').first();
  const text = 'binary:nobody-has-typed-this';
  await box.click();
  await page.keyboard.type(text, { delay: 25 });
  const isWhole = (await box.inputValue()) === text;
  await box.fill('');
  return (
    `${(frames.length / PAINT_SECONDS).toFixed(1)} paints a second, ${Math.max(0, ...inSecond)} in the worst; ` +
    `typed text arrived whole: ${isWhole}`
  );
}

/** As many events as an hour has at sixty a second, in less time; the heap after a collection, at its start and its end. */
async function tail(page: Page, bench: BenchHome & { readonly fleet: Fleet }): Promise<void> {
  const perSecond = (UPDATES_PER_SECOND * 3_600) / options.tailSeconds;
  const cdp = await page.context().newCDPSession(page);
  await followTail(page, '');
  const seconds = options.tailSeconds + PAINT_SECONDS + 30;
  const load = heartbeats(bench, { perSecond: perSecond / 10, events: 10, seconds });
  await load.prints(/begin\n/);
  say(`a live tail beside ${perSecond.toFixed(0)} events a second: ${await paints(page)}`);
  const heaps = [await heapOf(cdp)];
  for (let part = 0; part < 6; part += 1) {
    await wait((options.tailSeconds * 1_000) / 6);
    heaps.push(await heapOf(cdp));
  }
  const told = heaps.map((bytes) => (bytes / MIB).toFixed(1)).join(', ');
  say(`  its heap after each sixth of an hour's events: ${told} MiB`);
  await load.exited;
}

async function followTail(page: Page, search: string): Promise<void> {
  await page.goto(`/events${search}`);
  await useful(page);
  await page.getByRole('button', { name: 'Live tail' }).click();
  await page.getByText('New events come in at the top.').waitFor();
}

async function heapOf(cdp: CDPSession): Promise<number> {
  await cdp.send('HeapProfiler.enable');
  await cdp.send('HeapProfiler.collectGarbage');
  const { usedSize } = await cdp.send('Runtime.getHeapUsage');
  return usedSize;
}

function heartbeats(
  { fleet, start, writePlan }: BenchHome & { readonly fleet: Fleet },
  of: { readonly perSecond: number; readonly events: number; readonly seconds: number },
): Program {
  const sensors = fleet.sensors.slice(0, 600);
  const plan: LoadPlan = {
    ...{ port: home.port, ca: fleet.tls.serverCaPem, sensors, seconds: of.seconds },
    ...{ warmupSeconds: 10, eventsPerHeartbeat: of.events },
    pauseMaxMs: (2_000 * sensors.length) / of.perSecond,
  };
  return start('props/bench/load.ts', [writePlan(plan)]);
}

function middleOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function kb(bytes: number): string {
  return `${(bytes / 1_000).toFixed(0)} kB`;
}
