// The Console over memory behind a real listener on a free port, for examples that need sockets.
import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import forge from 'node-forge';
import { silentLogger } from '../../../actors/runtime/silent-logger.ts';
import type { EventBatch } from '../../../storage/ports/telemetry/event-store.ts';
import { system } from '../../capabilities/system/system.ts';
import { telemetry } from '../../capabilities/telemetry/telemetry.ts';
import { configFrom } from '../../memory-ports.fixture.ts';
import { listenAt } from '../../process/listen.ts';
import { createFixture, type FixtureOptions } from './operator-plane.fixture.ts';

export type Listening = Awaited<ReturnType<typeof listenWithFixture>>;

/** Starts everything on 127.0.0.1; `close` ends it and removes its files. */
export async function listenWithFixture(more: FixtureOptions = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'operator-'));
  const files = selfSigned(directory);
  const caPem = files.pem;
  const serverCaFingerprintSha256 = new X509Certificate(caPem).fingerprint256
    .replaceAll(':', '')
    .toLowerCase();
  const tls = { ...files, serverCaPem: caPem, serverCaFingerprintSha256, serverKeyPin: 'cGlu' };
  const port = await freePort();
  const url = `https://localhost:${port}`;
  const failures: unknown[] = [];
  // What a route answers a failure with is its own; what breaks an exchange is one.
  const error = (fields: object | string) => {
    if (typeof fields === 'object' && 'requestId' in fields) failures.push(fields);
  };
  const at = { cacheDir: directory, bind: '127.0.0.1', port };
  const fixture = await createFixture({
    ...more,
    ports: {
      config: configFrom({ base_url: url }),
      logger: { ...silentLogger, error },
      openCertificates: async () => ({
        sensors: {
          checkCsr: () => ({ ok: false, code: 'csr_refused', detail: 'no authority' }),
          newSerial: () => '01',
          issueSensorCertificate: () => Promise.reject(new Error('no authority')),
          rootsPem: caPem,
        },
        tls: () => tls,
        isRenewalDue: () => false,
        renew: async () => tls,
      }),
      listen: (on, attach) => listenAt(at, on, attach),
      ...more.ports,
    },
  });
  const { tap } = fixture.context.use(telemetry);
  return {
    ...{ fixture, caPem, failures, directory, url, port },
    hub: fixture.context.use(system).live,
    publish: (batch: EventBatch) => void tap.sink.append(batch),
    async close() {
      await fixture.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const found = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => resolve(found));
    });
  });
}

/** A CA that is its own server certificate: enough to speak TLS with a pinned root. */
function selfSigned(directory: string) {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const spki = keys.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(spki);
  certificate.serialNumber = `01${randomBytes(8).toString('hex')}`;
  certificate.validity.notBefore = new Date(Date.now() - 60_000);
  certificate.validity.notAfter = new Date(Date.now() + 3_600_000);
  const name = [{ name: 'commonName', value: 'localhost' }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true },
    { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
  ]);
  const key = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  certificate.sign(forge.pki.privateKeyFromPem(key), forge.md.sha256.create());
  const pem = forge.pki.certificateToPem(certificate);
  const certFile = join(directory, 'server.cert.pem');
  const keyFile = join(directory, 'server.key.pem');
  writeFileSync(certFile, pem);
  writeFileSync(keyFile, key, { mode: 0o600 });
  return { certFile, keyFile, clientCaFile: certFile, pem };
}
