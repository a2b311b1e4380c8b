// A real browser on a real Console: what it asked for, what its console and its content policy complained about, and what
// axe finds. Everything is waited for by what is shown, since a loaded machine has no pace of its own.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core';
import { expect } from 'vitest';

const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update'],
];
const SHOWN_WITHIN_MS = 60_000;
const PHONE_PX = 375;
const WIDE_PX = 1_280;
const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
/** Where screenshots go when somebody wants to look at them. */
const SCREENSHOTS = process.env['JOURNEY_SCREENSHOTS'];

export type Watched = {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Hosts that were asked for anything. */
  readonly hosts: ReadonlySet<string>;
  /** What the page threw, logged as an error, or did against its policy; answers of the API that refuse are none. */
  readonly complaints: readonly string[];
};

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
}

/** A window of somebody new. */
export async function openWindow(browser: Browser, origin: string, width = 1280): Promise<Watched> {
  const context = await browser.newContext({
    ...{ ignoreHTTPSErrors: true, baseURL: origin, viewport: { width, height: 900 } },
    ...{ colorScheme: 'light', reducedMotion: 'reduce' },
  });
  context.setDefaultTimeout(SHOWN_WITHIN_MS);
  const page = await context.newPage();
  const hosts = new Set<string>();
  const complaints: string[] = [];
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol !== 'data:' && protocol !== 'blob:') hosts.add(host);
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isRefusal) complaints.push(message.text());
  });
  return { page, context, hosts, complaints };
}

/** Logs in with a password; resolves when the page is there. */
export async function logIn(page: Page, email: string, password: string): Promise<void> {
  await page.goto('/login');
  await page.getByLabel('E-mail address').fill(email);
  await page.locator('input[name="password"]').fill(password);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
}

/**
 * Keeps a picture of the page in each width and scheme, and fails where it is wider than the window or, where it is wide,
 * axe finds something.
 */
export async function everySize(page: Page, name: string): Promise<void> {
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

/** What axe finds on the page as it stands, one line each. */
export async function axeOn(page: Page): Promise<readonly string[]> {
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode(true)
    .withTags(AXE_TAGS)
    .analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
  );
}

/** Keeps a picture, for people. */
export async function liveView(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS === undefined) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

/** The text of an element that is there, or comes. */
export async function textOf(element: Locator): Promise<string> {
  return (await element.textContent()) ?? '';
}
