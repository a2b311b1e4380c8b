// The license of a starting Console by example: what a quick start makes for itself, once, and what it leaves alone.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startLicense } from '../../actors/license/start-license.ts';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import { createIssuer, licensePayload } from '../../props/attacks/license-issuer.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { openLicenseTrust } from './license-trust.ts';
import { processTime } from './time.ts';

let folder: string;
let relational: ReturnType<typeof createMemoryRelational>;
const clock = createWheelClock();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'open-license-'));
  relational = createMemoryRelational();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Starts, looks, and stops again. */
async function start(isQuickStart: boolean, anchorPath: string | null = null) {
  const { license: store } = relational;
  const { now, monotonicNow } = processTime;
  const logger = silentLogger;
  const trust = await openLicenseTrust({ keysFolder: folder, isQuickStart, anchorPath, logger });
  const service = await startLicense({
    ...{ trust, store, clock, logger, now, monotonicNow, graceDays: 7 },
  });
  const view = service.view();
  await service.close();
  return view;
}

describe('the license of a quick start', () => {
  it('should be an evaluation for 10,000 nodes, made once', async () => {
    const first = await start(true);
    expect(first).toMatchObject({
      phase: 'valid',
      anchor: 'evaluation',
      nodesAllowed: null,
      license: { maxProtectedNodes: 10_000, plan: 'evaluation' },
    });
    const { graceUntilMs = 0, validUntilMs = 0 } = first.license ?? {};
    expect(graceUntilMs - validUntilMs).toBe(7 * 86_400_000);
    const key = join(folder, 'license-evaluation', 'license-signing.ed25519');
    expect(statSync(key).mode & 0o777).toBe(0o600);
    expect((await start(true)).license).toEqual(first.license);
    expect(await relational.audit.recent(10)).toMatchObject([
      { action: 'license.import', actor: 'quick-start' },
    ]);
  });

  it('should count in a quick start only', async () => {
    await start(true);
    expect(await start(false)).toMatchObject({
      phase: 'absent',
      anchor: 'embedded',
      isStoredRefused: true,
    });
  });

  it('should not be made where a key was named, nor replace what another key signed', async () => {
    expect(await start(false)).toMatchObject({ phase: 'absent', license: null });
    const path = join(folder, 'anchor.pub');
    const issuer = createIssuer();
    const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), issuer.publicKey]);
    const pem = ['-----BEGIN PUBLIC KEY-----', der.toString('base64'), '-----END PUBLIC KEY-----'];
    writeFileSync(path, pem.join('\n'));
    expect(await start(true, path)).toMatchObject({ phase: 'absent', anchor: 'evaluation' });
    const nowMs = Date.now();
    const envelope = JSON.stringify(issuer.sign(licensePayload(nowMs)));
    const more = { licenseId: 'x', seenMs: nowMs, nowMs, actor: 'op', before: null, after: {} };
    await relational.license.put({ ...more, revision: 0, envelope });
    expect(await start(true, path)).toMatchObject({ license: { licenseId: 'license-1' } });
    expect(await start(true)).toMatchObject({ license: null, isStoredRefused: true });
    expect((await relational.license.observe({ nowMs, seenMs: 0, revision: 0 })).revision).toBe(1);
  });
});
