// A renewal changes the certificate of a running Sensor. What is under way with the old one is answered all the same:
// cut off, it would be told as an error of the connection, and the sensor shown as degraded after every renewal.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { handleExchange } from '../../gateway/listener/handle-exchange.ts';
import { createListener, type Listener } from '../../gateway/listener/listener.ts';
import { createPeerFingerprints } from '../../gateway/listener/peer-fingerprints.ts';
import { respondJson } from '../../gateway/listener/respond.ts';
import { loadUws } from '../../gateway/listener/uws-loader.ts';
import { createConsoleClient } from '../../sensor/transport/console-client.ts';
import { openCertificateAuthority } from '../../storage/keys/certificate-authority.ts';
import { prepareTlsAssets } from '../../storage/keys/tls-assets.ts';

const folder = mkdtempSync(join(tmpdir(), 'identity-'));
const arrived = Promise.withResolvers<void>();
const changed = Promise.withResolvers<void>();
let listener: Listener;
let baseUrl: URL;
let caPem: string;

beforeAll(async () => {
  const nowMs = Date.now();
  const opened = await openCertificateAuthority({ folder: join(folder, 'ca'), nowMs });
  if (!opened.ok) throw new Error(opened.reason);
  const { authority } = opened;
  const names = ['localhost', '127.0.0.1'];
  const made = await prepareTlsAssets({ folder: join(folder, 'tls'), authority, names, nowMs });
  if (!made.ok) throw new Error(made.mistakes.join());
  const loaded = loadUws({ cacheDir: join(folder, 'native') });
  if (!loaded.ok) throw new Error(loaded.reason);
  const peers = createPeerFingerprints();
  const built = createListener({
    uws: loaded.uws,
    tls: made.assets,
    attach: (app) => {
      const open = { peers, onFailure: () => undefined };
      app.any(
        '/*',
        handleExchange(open, async (exchange) => {
          arrived.resolve();
          await changed.promise;
          respondJson(exchange, 200, {});
        }),
      );
    },
  });
  if (!built.ok) throw new Error('no listener');
  listener = built.listener;
  const listening = await listener.listen('127.0.0.1', 0);
  if (!listening.ok) throw new Error('it does not listen');
  baseUrl = new URL(`https://localhost:${listening.port}`);
  caPem = made.assets.serverCaPem;
});
afterAll(() => {
  listener.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('a client whose identity changes', () => {
  it('should hear the answer to what it asked before', async () => {
    const identity = { keyPem: null, certPem: null, caPem };
    const client = createConsoleClient({ baseUrl, instanceId: 'i', proxyUrl: null, identity });

    const asked = client.post('/sensors/heartbeat', '{}', { timeoutMs: 20_000 });
    await arrived.promise;
    client.useIdentity({ ...identity });
    changed.resolve();
    const before = await asked;
    const after = await client.post('/sensors/heartbeat', '{}', { timeoutMs: 20_000 });
    client.close();

    expect(before).toMatchObject({ ok: true, status: 200 });
    expect(after).toMatchObject({ ok: true, status: 200 });
  });
});
