// The real listener ends the handshake of a client certificate that is expired, or not valid yet, with one and the same TLS
// alert, before any HTTP answer: the Sensor has to read the alert itself, and its own clock tells which of the two it is.
import { generateKeyPairSync } from 'node:crypto';
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
import { askConsoleClock } from '../../sensor/transport/console-clock.ts';
import { newSerial, openCertificateAuthority } from '../../storage/keys/certificate-authority.ts';
import { prepareTlsAssets } from '../../storage/keys/tls-assets.ts';
import { SENSOR_ID } from './console-peer.ts';

const HOUR_MS = 3_600_000;
const folder = mkdtempSync(join(tmpdir(), 'expired-'));
const pair = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const keyPem = pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
let listener: Listener;
let baseUrl: URL;
let caPem: string;
let issue: (untilMs: number, fromMs: number) => Promise<string>;

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
  issue = async (untilMs, fromMs) => {
    const issued = await authority.issueSensorCertificate({
      publicKeySpki: pair.publicKey.export({ format: 'der', type: 'spki' }),
      nodeName: 'node-1',
      sensorId: SENSOR_ID,
      notBeforeMs: Date.now() + fromMs,
      notAfterMs: Date.now() + untilMs,
      serial: newSerial(),
    });
    return issued.pem;
  };
});
afterAll(() => {
  listener.close();
  rmSync(folder, { recursive: true, force: true });
});

const askClock = (trusted: string): Promise<number | null> =>
  askConsoleClock(baseUrl, trusted, { proxyUrl: null, timeoutMs: 5_000 });

async function ask(untilMs: number, fromMs = -HOUR_MS) {
  const identity = { keyPem, certPem: await issue(untilMs, fromMs), caPem };
  const client = createConsoleClient({ baseUrl, instanceId: 'i', proxyUrl: null, identity });
  const answer = await client.post('/sensors/heartbeat', '{}', { timeoutMs: 5_000 });
  client.close();
  return answer;
}

describe('an expired client certificate at the real listener', () => {
  it('should be told from every other trouble by the alert alone', async () => {
    expect(await ask(60_000)).toMatchObject({ ok: true });
    for (let round = 0; round < 5; round += 1) {
      expect(await ask(-60_000)).toMatchObject({
        kind: 'unreachable',
        trouble: { kind: 'certificate_expired' },
      });
    }
  });

  it('should look like one that is not valid yet, as to a Console whose clock was set back', async () => {
    for (let round = 0; round < 5; round += 1) {
      expect(await ask(30 * 24 * HOUR_MS, HOUR_MS)).toMatchObject({
        kind: 'unreachable',
        trouble: {
          kind: 'certificate_expired',
          detail: expect.stringContaining('ALERT_CERTIFICATE_EXPIRED'),
        },
      });
    }
  });

  it('should not keep one from asking for the clock, of a Console that is trusted', async () => {
    const toldMs = (await askClock(caPem)) ?? 0;
    // A Date has whole seconds, and the listener looks at its clock once a second.
    expect(toldMs % 1_000).toBe(0);
    expect(Math.abs(toldMs - Date.now())).toBeLessThan(HOUR_MS);
    const other = await openCertificateAuthority({
      folder: join(folder, 'other'),
      nowMs: Date.now(),
    });
    expect(other.ok && (await askClock(other.authority.rootsPem))).toBeNull();
  });
});
