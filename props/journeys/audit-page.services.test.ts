// The trail verified in a browser: as the Console exports it, after somebody changed a row in its store, and from a file that
// somebody kept and somebody else changed. invariant: I17; decision: D95
import { generateKeyPairSync, sign } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkpointBytes, fingerprintOfKey, hashOfRow } from '../../actors/audit/audit-hash.ts';
import { sealedElsewhere } from '../../gateway/operator-plane/plumbing/operator-plane.fixture.ts';
import { createMemoryAudit } from '../../storage/memory/audit/audit-log.ts';
import type { AuditRow } from '../../storage/ports/audit/audit-log.ts';
import { axeOn, launchBrowser, liveView, type Watched } from './browser.ts';
import { type MemoryConsole, openMemoryConsole } from './memory-console.ts';

const TIMEOUT_MS = 240_000;
const SEALED = 2_345;
const TAMPERED = 1_234;
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const publicKeyPem = String(publicKey.export({ format: 'pem', type: 'spki' }));

let memory: MemoryConsole;
let browser: Browser;
let window: Watched;
const trail = createMemoryAudit();

beforeAll(async () => {
  memory = await openMemoryConsole({
    relational: { audit: trail.audit, auditChain: sealedElsewhere(trail.chain) },
  });
  const atMs = memory.fixture.state.nowMs;
  for (let at = 0; at < SEALED; at += 1) {
    trail.record({
      ...{ atMs, actor: `user-${at}`, action: 'sensor.revoke', target: '"><b>', result: 'ok' },
      detail: { at, text: 'grüße 𝛼 \u2028' },
    });
  }
  await trail.chain.seal({ limit: SEALED, hashOf: hashOfRow });
  await trail.chain.checkpoint((head) => {
    const signed = { ...head, atMs };
    const signature = sign(null, checkpointBytes(signed), privateKey).toString('base64');
    return { ...signed, publicKeyPem, signature };
  });
  browser = await launchBrowser();
  window = await memory.windowOf(browser, 'admin');
}, TIMEOUT_MS);
afterAll(async () => {
  await browser?.close();
  await memory?.close();
}, TIMEOUT_MS);

const panel = () => window.page.getByRole('region', { name: 'Is the trail whole?' });
const verdict = (words: string) => panel().getByRole('status').getByText(words).waitFor();
const verifyLive = () => panel().getByRole('button', { name: 'Verify the chain' }).click();
const verifyFile = (lines: readonly string[]) =>
  panel()
    .locator('input[type="file"]')
    .setInputFiles({
      name: 'kept.ndjson',
      mimeType: 'application/x-ndjson',
      buffer: Buffer.from(lines.map((line) => `${line}\n`).join('')),
    });

describe('the trail of the Console', { timeout: TIMEOUT_MS }, () => {
  it('should hold, with the key that signed it, and be broken where a row was changed', async () => {
    const { page, complaints, hosts } = window;
    await page.goto('/audit');
    await verifyLive();
    await verdict('The chain holds. Sealed entries: 2,345, checkpoints: 1.');
    await panel().getByText(fingerprintOfKey(publicKeyPem)).waitFor();
    expect(await axeOn(page)).toEqual([]);
    await liveView(page, '1280-audit-holds');

    const rows = trail.rows as AuditRow[];
    const before = rows[TAMPERED - 1];
    if (before === undefined) throw new Error('there is such a row');
    rows[TAMPERED - 1] = { ...before, actor: 'somebody-else' };
    await verifyLive();
    await verdict('The chain is broken: row 1234 (audit id 1234) was changed');
    await page.emulateMedia({ colorScheme: 'dark' });
    await liveView(page, '1280-audit-broken-dark');
    await page.emulateMedia({ colorScheme: 'light' });
    rows[TAMPERED - 1] = before;
    await verifyLive();
    await verdict('The chain holds. Sealed entries: 2,345');
    expect(complaints).toEqual([]);
    expect([...hosts]).toEqual([new URL(memory.url).host]);
  });
});

describe('an export that somebody kept', { timeout: TIMEOUT_MS }, () => {
  it('should be judged by its lines alone', async () => {
    const { page, complaints } = window;
    const answer = await page.request.get('/api/v2/audit', {
      headers: { accept: 'application/x-ndjson' },
    });
    const lines = (await answer.text()).trimEnd().split('\n');
    // One checkpoint, the sealed rows, and what was done since they were sealed.
    expect(lines.length).toBeGreaterThan(SEALED);
    const changed = (at: number, from: string, to: string) =>
      lines.map((line, index) => (index === at ? line.replace(from, to) : line));
    await page.goto('/audit');
    await verifyFile(lines);
    await verdict('The chain holds. Sealed entries: 2,345');
    await panel().getByText('kept.ndjson').waitFor();
    await verifyFile(changed(TAMPERED, `user-${TAMPERED - 1}"`, 'nobody"'));
    await verdict('row 1234 (audit id 1234) was changed');
    await verifyFile(lines.toSpliced(TAMPERED, 1));
    await verdict('a row was removed at 1234');
    await verifyFile(lines.slice(0, TAMPERED));
    await verdict('the rows 1234 to 2345 were removed');
    await verifyFile(changed(0, '"signature":"', '"signature":"AAAA'));
    await verdict('the checkpoint at 2345 is not signed by a key that may');
    await verifyFile(lines.toReversed());
    await verdict('its lines stand in another order');
    await verifyFile(lines.toSpliced(3, 0, '{"no":"row"}', '1e999'));
    await verdict('line 4 is neither an entry nor a checkpoint');
    await verifyFile([]);
    await verdict('The chain holds. Sealed entries: 0,');
    expect(complaints).toEqual([]);
  });
});
