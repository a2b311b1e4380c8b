// Attack 30: whoever tries keys and sessions leaves a trace, however it goes about it, and writes no more by trying more.
// decision: D64; invariant: I10
import { afterAll, expect, it } from 'vitest';
import { formatSecret } from '../../machines/trust/secret.rules.ts';
import { removeSharedKeys, startConsole } from './console.fixture.ts';
import { createBrowser } from './person.ts';

afterAll(removeSharedKeys);

it('should leave one row a place for each kind of guess, and count them', async () => {
  const console = await startConsole({ budget: 60 });
  const guess = (authorization: string) =>
    console.ask(null, '/api/v2/sensors', undefined, { method: 'GET', headers: { authorization } });
  for (let at = 0; at < 20; at += 1) {
    await guess(`Bearer ${formatSecret('apiKey', Buffer.alloc(32, at))}`);
  }
  await guess('Bearer nonsense');
  const browser = createBrowser(console);
  browser.plant('A'.repeat(43));
  for (let at = 0; at < 5; at += 1) await browser.get('/sensors');
  for (let at = 0; at < 60; at += 1) await console.ask(null, '/api/v2/openapi.json');
  const { secret } = await console.newKey(['metrics:read']);
  await console.closeAccess();
  const rows = (await console.audited()).filter(({ action }) => action === 'credential.refused');
  expect(new Map(rows.map(({ target, detail }) => [target, detail['count']]))).toEqual(
    new Map([
      ['unknown_key', 21],
      ['dead_session', 5],
      ['rate_limited', expect.any(Number)],
    ]),
  );
  expect(rows.every(({ from }) => from === '127.0.0.1')).toBe(true);
  expect(rows.length).toBe(3);
  expect(secret).toBeDefined();
  expect(await console.metrics.registry.metrics()).toMatch(
    /service_refused_credentials_total\{kind="unknown_key"\} 21/,
  );
  await console.stop();
});
