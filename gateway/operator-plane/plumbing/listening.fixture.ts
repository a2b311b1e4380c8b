// The operator plane and the live channel behind a real listener on a free port, for examples that need sockets.
import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import forge from 'node-forge';
import type { EventBatch } from '../../../storage/ports/telemetry/event-store.ts';
import { handleExchange } from '../../listener/handle-exchange.ts';
import { createListener } from '../../listener/listener.ts';
import { createPeerFingerprints } from '../../listener/peer-fingerprints.ts';
import { loadUws } from '../../listener/uws-loader.ts';
import { createLiveHub } from '../../live/live-hub.ts';
import { createLiveBehavior, LIVE_PATH } from '../../live/live-socket.ts';
import { createBridge } from './bridge.ts';
import type { OperatorPlaneDeps } from './deps.ts';
import { createFixture } from './operator-plane.fixture.ts';

export type Listening = Awaited<ReturnType<typeof listenWithFixture>>;

/** Starts everything on 127.0.0.1; `close` ends it and removes its files. */
export async function listenWithFixture(
  more: Partial<OperatorPlaneDeps> = {},
  options: { readonly slowReaderMs?: number } = {},
) {
  const directory = mkdtempSync(join(tmpdir(), 'operator-'));
  const tls = selfSigned(directory);
  const caPem = tls.pem;
  let port = 0;
  const fixture = await createFixture({
    caPem: () => caPem,
    caFingerprint: () => new X509Certificate(caPem).fingerprint256,
    baseUrl: () => `https://localhost:${port}`,
    ...more,
  });
  const loaded = loadUws({ cacheDir: directory });
  if (!loaded.ok) throw new Error(loaded.reason);
  const batches = new Set<(batch: EventBatch) => void>();
  const failures: unknown[] = [];
  const exchange = {
    peers: createPeerFingerprints(),
    onFailure: (error: unknown) => void failures.push(error),
  };
  const hub = createLiveHub({
    fleet: fixture.deps.fleet,
    feed: fixture.feed,
    events: {
      subscribe(listener) {
        batches.add(listener);
        return () => batches.delete(listener);
      },
    },
    admitter: fixture.deps.admitter,
    now: () => performance.now(),
    logger: fixture.deps.logger,
    ...options,
  });
  const bridge = createBridge({
    app: fixture.app,
    startTimer: (run, delayMs) => {
      const timer = setTimeout(run, delayMs);
      return () => clearTimeout(timer);
    },
  });
  const created = createListener({
    uws: loaded.uws,
    tls,
    attach(app) {
      app.ws(
        LIVE_PATH,
        createLiveBehavior({
          hub,
          admitter: fixture.deps.admitter,
          baseUrl: fixture.deps.baseUrl,
          exchange,
        }),
      );
      app.any('/*', handleExchange(exchange, bridge));
    },
  });
  if (!created.ok) throw new Error(created.reason);
  const bound = await created.listener.listen('127.0.0.1', 0);
  if (!bound.ok) throw new Error(bound.reason);
  port = bound.port;
  return {
    fixture,
    hub,
    caPem,
    failures,
    directory,
    url: `https://localhost:${port}`,
    port,
    publish: (batch: EventBatch) => {
      for (const listener of batches) listener(batch);
    },
    async close() {
      hub.close();
      created.listener.close();
      await fixture.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
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
