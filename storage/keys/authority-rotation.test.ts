// A change of the root by example, with real TLS: who is let in at each step, and that no step comes too early.
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { afterAll, describe, expect, it } from 'vitest';
import { rotateAuthority } from './authority-rotation.ts';
import { newSerial, openCertificateAuthority } from './certificate-authority.ts';
import { oldSensorKeysUntil } from './key-journal.ts';
import { prepareTlsAssets } from './tls-assets.ts';

const LIFETIME_MS = 30 * 86_400_000;
const START_MS = Date.now();
const folder = mkdtempSync(join(tmpdir(), 'rotation-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const keyPem = keys.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

/** A Console as it starts on these keys. */
async function start() {
  const opened = await openCertificateAuthority({ folder, nowMs: START_MS });
  if (!opened.ok) throw new Error(opened.reason);
  const { authority } = opened;
  const names = ['localhost'];
  const made = await prepareTlsAssets({ folder, authority, names, nowMs: START_MS });
  if (!made.ok) throw new Error(made.mistakes.join());
  const issue = () =>
    authority.issueSensorCertificate({
      publicKeySpki: keys.publicKey.export({ format: 'der', type: 'spki' }),
      ...{ nodeName: 'node', sensorId: 'one', serial: newSerial() },
      ...{ notBeforeMs: START_MS - 60_000, notAfterMs: START_MS + LIFETIME_MS },
    });
  return { authority, assets: made.assets, issue };
}
type Started = Awaited<ReturnType<typeof start>>;

/** Whether a node with this certificate, which trusts these roots, gets in. */
async function isIn({ assets }: Started, cert: string, roots: string): Promise<boolean> {
  const server = createServer({
    cert: readFileSync(assets.certFile),
    key: readFileSync(assets.keyFile),
    ca: readFileSync(assets.clientCaFile),
    ...{ requestCert: true, rejectUnauthorized: true },
  });
  server.on('secureConnection', (socket) => socket.end('in'));
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const heard = await new Promise<string>((resolve) => {
    const to = { host: '127.0.0.1', port, servername: 'localhost' };
    const socket = connect({ ...to, cert, key: keyPem, ca: roots });
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.on('error', () => resolve('out'));
    socket.on('close', () => resolve(text));
  });
  await new Promise((resolve) => server.close(resolve));
  return heard === 'in';
}
const rotate = (nowMs: number, isForced = false) =>
  rotateAuthority({ folder, nowMs, lifetimeMs: LIFETIME_MS, isForced });

describe('a change of the root', () => {
  it('should cut off nobody who renewed in time, and end the old root last', async () => {
    expect(await rotate(START_MS)).toMatchObject({ ok: false });
    const before = await start();
    const old = (await before.issue()).pem;
    const oldRoots = before.authority.rootsPem;
    expect(await isIn(before, old, oldRoots)).toBe(true);

    expect(await rotate(START_MS)).toMatchObject({ step: 'prepared', roots: 2 });
    expect(statSync(join(folder, 'console-ca.next.key.pem')).mode & 0o777).toBe(0o600);
    const both = await start();
    expect(both.authority.rootsPem.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    expect(both.authority.rootFingerprint).toBe(before.authority.rootFingerprint);
    expect(await isIn(both, old, oldRoots)).toBe(true);
    const late = (await both.issue()).pem;

    expect(await rotate(START_MS + LIFETIME_MS - 1)).toMatchObject({ ok: false });
    expect(await rotate(START_MS + LIFETIME_MS)).toMatchObject({ step: 'activated' });
    const turned = await start();
    expect(turned.authority.rootFingerprint).not.toBe(before.authority.rootFingerprint);
    const fresh = (await turned.issue()).pem;
    const bothRoots = turned.authority.rootsPem;
    // Who renewed knows both; the certificate of before is still good, and the listener shows one of the new root.
    for (const cert of [old, late, fresh]) expect(await isIn(turned, cert, bothRoots)).toBe(true);
    expect(await isIn(turned, old, oldRoots)).toBe(false);

    expect(await rotate(START_MS + 2 * LIFETIME_MS - 1)).toMatchObject({ ok: false });
    expect(await rotate(START_MS + 2 * LIFETIME_MS)).toMatchObject({ step: 'retired', roots: 1 });
    const after = await start();
    expect(await isIn(after, fresh, bothRoots)).toBe(true);
    expect(await isIn(after, old, bothRoots)).toBe(false);
    const [own] =
      after.authority.rootsPem.match(/-----BEGIN[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
    expect(new X509Certificate(String(own)).subject).toContain('Service Console Root');
    // And again, when it is due.
    expect(await rotate(START_MS + 3 * LIFETIME_MS)).toMatchObject({ step: 'prepared' });
    expect(await rotate(START_MS + 3 * LIFETIME_MS, true)).toMatchObject({ step: 'activated' });
  });

  it('should take smaller keys of older Sensors for one lifetime, and never on a new authority', async () => {
    const [old, made] = [mkdtempSync(join(folder, 'o-')), mkdtempSync(join(folder, 'n-'))];
    const facts = { nowMs: 1_000, lifetimeMs: LIFETIME_MS };
    expect(await oldSensorKeysUntil(old, { ...facts, isNew: false })).toBe(1_000 + LIFETIME_MS);
    const later = { ...facts, nowMs: 5_000, isNew: false };
    expect(await oldSensorKeysUntil(old, later)).toBe(1_000 + LIFETIME_MS);
    expect(await oldSensorKeysUntil(made, { ...facts, isNew: true })).toBe(0);
    expect(await oldSensorKeysUntil(made, later)).toBe(0);
  });
});
