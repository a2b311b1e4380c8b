import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVER_CERTIFICATE_TTL_MS } from '../../machines/limits.ts';
import {
  type CertificateAuthority,
  newSerial,
  openCertificateAuthority,
} from './certificate-authority.ts';
import { openPolicySigningKey } from './policy-signing-key.ts';
import { isServerRenewalDue, prepareTlsAssets } from './tls-assets.ts';

const nowMs = Math.floor(Date.now() / 1000) * 1000;
const names = ['localhost', '127.0.0.1', '::1', 'node-1.example'];
let folder = '';
let authority: CertificateAuthority;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keys-'));
  const opened = await openCertificateAuthority({ folder: join(folder, 'ca'), nowMs });
  if (!opened.ok) throw new Error(opened.reason);
  authority = opened.authority;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function opensslAccepts(pem: string, purpose: 'sslserver' | 'sslclient'): string {
  const leaf = join(folder, `${newSerial()}.pem`);
  writeFileSync(leaf, pem);
  const args = [
    'verify',
    '-x509_strict',
    '-purpose',
    purpose,
    '-CAfile',
    authority.rootsFile,
    leaf,
  ];
  const run = spawnSync('openssl', args, { encoding: 'utf8' });
  return run.status === 0 ? 'accepted' : `${run.stdout}${run.stderr}`;
}

const sensorKey = generateKeyPairSync('rsa', { modulusLength: 2048 });
const issueSensor = () =>
  authority.issueSensorCertificate({
    publicKeySpki: sensorKey.publicKey.export({ format: 'der', type: 'spki' }),
    nodeName: 'node_1.a',
    sensorId: '018f0000-0000-7000-8000-000000000001',
    notBeforeMs: nowMs - 300_000,
    notAfterMs: nowMs + 3_600_000,
    serial: newSerial(),
  });

describe('certificate authority', () => {
  it('should keep its key private and be the same after a restart', async () => {
    expect(statSync(join(folder, 'ca')).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'ca', 'console-ca.key.pem')).mode & 0o777).toBe(0o600);
    const again = await openCertificateAuthority({ folder: join(folder, 'ca'), nowMs });
    expect(again.ok && again.created).toBe(false);
    expect(again.ok && again.authority.rootsPem).toBe(authority.rootsPem);
  });

  it('should sign sensor certificates that strict verification accepts as clients only', async () => {
    const issued = await issueSensor();
    expect(opensslAccepts(issued.pem, 'sslclient')).toBe('accepted');
    expect(opensslAccepts(issued.pem, 'sslserver')).not.toBe('accepted');
    const certificate = new X509Certificate(issued.pem);
    expect(certificate.subject).toBe('O=Service Sensor\nCN=node_1.a');
    expect(certificate.subjectAltName).toBe(
      'URI:urn:service:sensor:018f0000-0000-7000-8000-000000000001',
    );
    expect(certificate.ca).toBe(false);
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect([issued.notBeforeMs, issued.notAfterMs]).toEqual([nowMs - 300_000, nowMs + 3_600_000]);
  });

  it('should sign P-256 server certificates for every name', async () => {
    const issued = await authority.issueServerCertificate(names, nowMs);
    expect(opensslAccepts(issued.pem, 'sslserver')).toBe('accepted');
    const certificate = new X509Certificate(issued.pem);
    expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
    for (const name of names)
      expect(certificate.checkHost(name) ?? certificate.checkIP(name)).toBeTruthy();
  });

  it('should make the certificate again when a crash left the key alone', async () => {
    const copy = join(folder, 'crashed');
    const first = await openCertificateAuthority({ folder: copy, nowMs });
    const key = readFileSync(join(copy, 'console-ca.key.pem'), 'utf8');
    rmSync(join(copy, 'console-ca.cert.pem'));
    const again = await openCertificateAuthority({ folder: copy, nowMs });
    expect(first.ok && again.ok).toBe(true);
    expect(readFileSync(join(copy, 'console-ca.key.pem'), 'utf8')).toBe(key);
  });

  it('should refuse a damaged key, a lost key and an expired root, and overwrite nothing', async () => {
    const copy = join(folder, 'damaged');
    await openCertificateAuthority({ folder: copy, nowMs });
    const keyFile = join(copy, 'console-ca.key.pem');
    const expired = await openCertificateAuthority({ folder: copy, nowMs: nowMs + 4e11 });
    expect(!expired.ok && expired.reason).toContain('not valid now');
    writeFileSync(keyFile, 'damaged');
    const damaged = await openCertificateAuthority({ folder: copy, nowMs });
    expect(!damaged.ok && damaged.reason).toContain('usable RSA private key');
    expect(readFileSync(keyFile, 'utf8')).toBe('damaged');
    rmSync(keyFile);
    const lost = await openCertificateAuthority({ folder: copy, nowMs });
    expect(!lost.ok && lost.reason).toContain('is missing');
  });
});

describe('prepareTlsAssets', () => {
  const prepare = (atMs: number) =>
    prepareTlsAssets({ folder: join(folder, 'tls'), authority, names, nowMs: atMs });

  it('should keep a generated certificate until a third of its life is left, then renew', async () => {
    const first = await prepare(nowMs);
    const again = await prepare(nowMs + 1_000);
    if (!first.ok || !again.ok) throw new Error('must be ok');
    expect([first.renewed, again.renewed]).toEqual([true, false]);
    expect(isServerRenewalDue(first.assets, nowMs)).toBe(false);
    const lateMs = nowMs + SERVER_CERTIFICATE_TTL_MS * 0.7;
    expect(isServerRenewalDue(first.assets, lateMs)).toBe(true);
    const late = await prepare(lateMs);
    expect(late.ok && late.renewed).toBe(true);
    expect(late.ok && late.assets.serverCaFingerprintSha256).toBe(authority.rootFingerprint);
  });

  it('should accept sound operator files and name every mistake of unsound ones', async () => {
    const other = await openCertificateAuthority({ folder: join(folder, 'other'), nowMs });
    if (!other.ok) throw new Error(other.reason);
    const issued = await other.authority.issueServerCertificate(['console.example'], nowMs);
    const operator = {
      certPath: join(folder, 'op.cert.pem'),
      keyPath: join(folder, 'op.key.pem'),
      caPath: other.authority.rootsFile,
    };
    writeFileSync(operator.certPath, issued.pem);
    writeFileSync(operator.keyPath, issued.keyPem, { mode: 0o600 });
    const base = { folder: join(folder, 'tls'), authority, names, nowMs };
    const sound = await prepareTlsAssets({ ...base, operator });
    expect(sound.ok && sound.assets.serverCaFingerprintSha256).toBe(
      other.authority.rootFingerprint,
    );
    expect(sound.ok && sound.assets.clientCaFile).toBe(authority.rootsFile);

    writeFileSync(operator.certPath, (await issueSensor()).pem);
    const unsound = await prepareTlsAssets({ ...base, operator, nowMs: nowMs + 7_200_000 });
    const mistakes = unsound.ok ? [] : unsound.mistakes;
    expect(mistakes).toHaveLength(4);
    expect(mistakes.join()).toMatch(/does not belong.*server auth.*not now.*does not lead/s);
    const missing = {
      certPath: '/nonexistent/a',
      keyPath: '/nonexistent/b',
      caPath: '/nonexistent/c',
    };
    const absent = await prepareTlsAssets({ ...base, operator: missing });
    expect(absent.ok ? [] : absent.mistakes).toHaveLength(3);
  });
});

describe('policy signing key', () => {
  it('should be made once, kept private, and refused when damaged', async () => {
    const place = join(folder, 'policy');
    const first = await openPolicySigningKey({ folder: place });
    const again = await openPolicySigningKey({ folder: place });
    if (!first.ok || !again.ok) throw new Error('must be ok');
    expect(again.created).toBe(false);
    expect(again.key.publicKeyPem).toBe(first.key.publicKeyPem);
    expect(again.key.sign(Buffer.from('x'))).toEqual(first.key.sign(Buffer.from('x')));
    const file = join(place, 'policy-signing.ed25519');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    writeFileSync(file, 'damaged');
    expect((await openPolicySigningKey({ folder: place })).ok).toBe(false);
    expect(readFileSync(file, 'utf8')).toBe('damaged');
  });
});
