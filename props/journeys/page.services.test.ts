// The plain page in a real browser: what it says, that it asks nobody else for anything, and that it reads in both
// colour schemes. Screenshots are taken so that a person can look at them; their place is printed.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Home, makeHome, type Program, removeHome, startProgram } from './programs.ts';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
let home: Home;
let program: Program;
let browser: Browser;

beforeAll(async () => {
  home = await makeHome();
  program = startProgram('gateway/cli/service-console.js', ['quickstart', '--no-sensor'], {
    env: home.env,
  });
  await program.prints(/https:\/\/localhost:\d+/, 90_000);
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
});
afterAll(async () => {
  await browser?.close();
  program?.kill('SIGTERM');
  await program?.exited;
  await removeHome(home);
});

describe('the page at /', () => {
  it.each(['light', 'dark'] as const)(
    'should read well in %s and ask nobody else',
    async (colorScheme) => {
      const page = await browser.newPage({ ignoreHTTPSErrors: true, colorScheme });
      const asked: string[] = [];
      const problems: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).host));
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(message.text());
      });
      await page.goto(`https://localhost:${home.port}/`);
      const text = (await page.textContent('body')) ?? '';
      expect(text).toContain('0.1.0');
      const fingerprint = /CA SHA-256\s+([0-9A-F:]{95})/.exec(program.output())?.[1] ?? 'none';
      expect(text.replaceAll(/\s/g, '')).toContain(fingerprint);
      expect(await page.getAttribute('a[href*="openapi.json"]', 'href')).toBe(
        '/api/v2/openapi.json',
      );
      expect([...new Set(asked)]).toEqual([`localhost:${home.port}`]);
      expect(problems).toEqual([]);
      const screenshot = join(mkdtempSync(join(tmpdir(), 'page-')), `home-${colorScheme}.png`);
      await page.screenshot({ path: screenshot });
      process.stderr.write(`screenshot: ${screenshot}\n`);
      await page.close();
    },
  );
});
