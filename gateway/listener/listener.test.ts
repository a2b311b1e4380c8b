import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
// The listener is proven with real certificates; only this test joins it with the key store.
import { newSerial, openCertificateAuthority } from '../../storage/keys/certificate-authority.ts';
import { prepareTlsAssets, type TlsAssets } from '../../storage/keys/tls-assets.ts';
import { readBody } from './body.ts';
import { handleExchange } from './handle-exchange.ts';
import { createListener, type Listener } from './listener.ts';
import { createPeerFingerprints } from './peer-fingerprints.ts';
import { respond, respondJson } from './respond.ts';
import { loadUws } from './uws-loader.ts';

const folder = mkdtempSync(join(tmpdir(), 'listener-'));
const handled: string[] = [];
const failures: unknown[] = [];
let assets: TlsAssets;
let listener: Listener;
let port = 0;
let issue: (life?: { from: number; to: number }) => Promise<Identity>;
let foreign: Identity;

type Identity = { cert: string; key: string; fingerprint: string };
const loaded = loadUws({ cacheDir: join(folder, 'native') });

async function openAuthority(name: string) {
  const opened = await openCertificateAuthority({ folder: join(folder, name), nowMs: Date.now() });
  if (!opened.ok) throw new Error(opened.reason);
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const issueSensor = async (life = { from: -60_000, to: 60_000 }): Promise<Identity> => {
    const issued = await opened.authority.issueSensorCertificate({
      publicKeySpki: pair.publicKey.export({ format: 'der', type: 'spki' }),
      nodeName: 'node-1',
      sensorId: '018f0000-0000-7000-8000-000000000001',
      notBeforeMs: Date.now() + life.from,
      notAfterMs: Date.now() + life.to,
      serial: newSerial(),
    });
    const key = pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    return { cert: issued.pem, key, fingerprint: issued.fingerprint };
  };
  return { authority: opened.authority, issueSensor };
}

async function prepare(tlsFolder: string, name: string): Promise<TlsAssets> {
  const { authority } = await openAuthority('ca');
  const place = join(folder, tlsFolder);
  const names = ['localhost', '127.0.0.1', name];
  const made = await prepareTlsAssets({ folder: place, authority, names, nowMs: Date.now() });
  if (!made.ok) throw new Error(made.mistakes.join());
  return made.assets;
}

const peers = createPeerFingerprints();
const startTimer = (run: () => void, delayMs: number) => {
  const timer = setTimeout(run, delayMs);
  return () => clearTimeout(timer);
};

function build(tls: { certFile: string; keyFile: string; clientCaFile: string }) {
  if (!loaded.ok) throw new Error(loaded.reason);
  const open = { peers, onFailure: (error: unknown) => failures.push(error) };
  return createListener({
    uws: loaded.uws,
    tls,
    attach: (app) => {
      app.any(
        '/*',
        handleExchange(open, async (exchange) => {
          handled.push(`${exchange.request.method} ${exchange.request.path}`);
          if (exchange.request.path === '/throws') throw new Error('on purpose');
          if (exchange.request.path === '/head') {
            respond(exchange, { status: 200, body: 'hello' });
            return;
          }
          const body = await readBody(exchange, { maxBytes: 1_000, timeoutMs: 300, startTimer });
          if (!body.ok) {
            if (body.code !== 'aborted') exchange.refuse(body.code, { detail: body.detail });
            return;
          }
          const { clientFingerprint, remoteAddress } = exchange.request;
          const length = body.body.length;
          respondJson(exchange, 200, { clientFingerprint, remoteAddress, length });
        }),
      );
    },
  });
}

beforeAll(async () => {
  const own = await openAuthority('ca');
  issue = own.issueSensor;
  foreign = await (await openAuthority('foreign')).issueSensor();
  assets = await prepare('tls', 'first.example');
  const built = build(assets);
  if (!built.ok) throw new Error(built.reason);
  listener = built.listener;
  const bound = await listener.listen('127.0.0.1', 0);
  if (!bound.ok) throw new Error(bound.reason);
  port = bound.port;
});
afterAll(() => {
  listener.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  handled.length = 0;
  failures.length = 0;
});

type Heard = { text: string; error: string; socket: TLSSocket };

/** Opens a connection, writes the text, and resolves when `until` is heard or the connection ends. */
function talk(text: string, options: ConnectionOptions & { until?: RegExp } = {}): Promise<Heard> {
  return new Promise((resolve) => {
    const ca = assets.serverCaPem;
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca, ...options });
    const heard: Heard = { text: '', error: '', socket };
    socket.on('secureConnect', () => socket.write(text));
    socket.on('data', (chunk) => {
      heard.text += chunk.toString('latin1');
      if (options.until?.test(heard.text)) resolve(heard);
    });
    socket.on('error', (error) => {
      heard.error = `${'code' in error ? error.code : ''} ${error.message}`;
    });
    socket.on('close', () => resolve(heard));
  });
}
const COMPLETE = /\r\n\r\n\{.*\}$/s;
const get = (path = '/') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const post = (headers: string, body: string) =>
  `POST /body HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n${body}`;

describe('identity', () => {
  it('should accept a peer without a certificate and show none', async () => {
    const { text, socket } = await talk(get(), { until: COMPLETE });
    socket.destroy();
    expect(text).toContain('"clientFingerprint":null,"remoteAddress":"127.0.0.1"');
    expect(text).toMatch(/strict-transport-security: .*x-content-type-options: nosniff/is);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'should show the fingerprint over %s, resumed too',
    async (version) => {
      const identity = await issue();
      const limits = { minVersion: version, maxVersion: version } as const;
      let session: Buffer | undefined;
      const first = connect({
        port,
        host: '127.0.0.1',
        servername: 'localhost',
        ca: assets.serverCaPem,
        ...identity,
        ...limits,
      });
      const isTicketSeen = new Promise<void>((resolve) => {
        first.on('session', (ticket) => {
          session = ticket;
          resolve();
        });
      });
      first.write(get());
      await isTicketSeen;
      first.destroy();
      if (!session) throw new Error('no session');
      // No certificate is given here: the identity comes out of the ticket alone.
      const resumed = await talk(get(), { session, until: COMPLETE, ...limits });
      expect(resumed.socket.isSessionReused()).toBe(true);
      resumed.socket.destroy();
      expect(resumed.text).toContain(identity.fingerprint);
    },
  );

  it('should end the handshake of foreign, expired and not yet valid certificates', async () => {
    const expired = await issue({ from: -60_000, to: -2_000 });
    const early = await issue({ from: 60_000, to: 120_000 });
    // One that is not valid yet gets the alert of one that expired: the node's own clock has to tell them apart.
    const alerts = [
      [foreign, 'UNKNOWN_CA'],
      [expired, 'CERTIFICATE_EXPIRED'],
      [early, 'CERTIFICATE_EXPIRED'],
    ] as const;
    for (const [identity, alert] of alerts) {
      const { text, error } = await talk(get(), identity);
      expect(text).toBe('');
      expect(/^ERR_SSL_\S+_ALERT_(\S+) /.exec(error)?.[1]).toBe(alert);
    }
    expect(handled).toEqual([]);
  });

  it('should offer nothing of TLS 1.2 but authenticated encryption with forward secrecy', async () => {
    const offered = async (ciphers: string) => {
      const limits = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const;
      const { socket, error } = await talk(get(), { ciphers, ...limits, until: COMPLETE });
      const name = error === '' ? socket.getCipher().name : 'none';
      socket.destroy();
      return name;
    };
    for (const weak of [
      'ECDHE-ECDSA-AES128-SHA',
      'ECDHE-ECDSA-AES256-SHA384',
      'AES128-GCM-SHA256',
      'AES256-SHA',
    ])
      expect([weak, await offered(`${weak}:@SECLEVEL=0`)]).toEqual([weak, 'none']);
    for (const good of ['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'])
      expect(await offered(good)).toBe(good);
  });

  it('should refuse TLS below 1.2', async () => {
    const old = {
      minVersion: 'TLSv1.1',
      maxVersion: 'TLSv1.1',
      ciphers: 'ALL:@SECLEVEL=0',
    } as const;
    expect((await talk(get(), old)).error).not.toBe('');
  });
});

describe('start and swap', () => {
  it('should refuse to be built without a CA certificate', () => {
    const empty = join(folder, 'empty.pem');
    writeFileSync(empty, '');
    const notCa = assets.certFile;
    for (const clientCaFile of [empty, '/nonexistent/ca.pem', notCa, assets.keyFile])
      expect(build({ ...assets, clientCaFile }).ok).toBe(false);
    expect(build({ ...assets, keyFile: '/nonexistent/key.pem' }).ok).toBe(false);
  });

  it('should refuse a port in use, by itself or by another program', async () => {
    const second = build(assets);
    if (!second.ok) throw new Error(second.reason);
    expect((await second.listener.listen('127.0.0.1', port)).ok).toBe(false);
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const taken = typeof address === 'object' && address ? address.port : 0;
    expect((await second.listener.listen('127.0.0.1', taken)).ok).toBe(false);
    second.listener.close();
    await new Promise((resolve) => other.close(resolve));
  });

  it('should swap certificates on the same port while open connections live on', async () => {
    const kept = await talk(get(), { until: COMPLETE });
    const before = kept.socket.getPeerX509Certificate()?.subjectAltName;
    const next = await prepare('tls-next', 'second.example');
    expect(listener.swap(next)).toEqual({ ok: true, port });
    const fresh = await talk(get(), { until: COMPLETE });
    expect(before).toContain('first.example');
    expect(fresh.socket.getPeerX509Certificate()?.subjectAltName).toContain('second.example');
    fresh.socket.destroy();
    const answered = new Promise<string>((resolve) => {
      kept.socket.once('data', (chunk) => resolve(chunk.toString()));
    });
    kept.socket.write(get());
    expect(await answered).toContain('200 OK');
    kept.socket.destroy();
    const broken = join(folder, 'broken.pem');
    writeFileSync(broken, readFileSync(next.certFile, 'utf8').slice(0, 200));
    expect(listener.swap({ ...next, certFile: broken }).ok).toBe(false);
    const still = await talk(get(), { until: COMPLETE });
    still.socket.destroy();
    expect(still.text).toContain('200 OK');
  });
});

describe('framing', () => {
  const smuggled = get('/smuggled');
  it.each([
    [
      'two lengths',
      post(`Content-Length: 4\r\nContent-Length: ${4 + smuggled.length}\r\n`, `abcd${smuggled}`),
    ],
    ['two equal lengths', post('Content-Length: 4\r\nContent-Length: 4\r\n', `abcd${smuggled}`)],
    [
      'length and chunked',
      post('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${smuggled}`),
    ],
    ['an unknown encoding', post('Transfer-Encoding: gzip, chunked\r\n', `0\r\n\r\n${smuggled}`)],
    ['a negative length', post('Content-Length: -1\r\n', smuggled)],
    ['a length list', post('Content-Length: 4, 4\r\n', `abcd${smuggled}`)],
    ['two hosts', `GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n${smuggled}`],
    ['bare LF', `GET / HTTP/1.1\nHost: localhost\n\n${smuggled}`],
    [
      'a folded header',
      `GET / HTTP/1.1\r\nHost: localhost\r\nX-A: b\r\n Content-Length: 9\r\n\r\n${smuggled}`,
    ],
    ['a space before the colon', post('Content-Length : 4\r\n', `abcd${smuggled}`)],
    ['too many headers', `GET / HTTP/1.1\r\nHost: a\r\n${'X-A: b\r\n'.repeat(80)}\r\n${smuggled}`],
  ])('should refuse %s and close without a second request', async (_name, text) => {
    const heard = await talk(text);
    expect(handled.filter((line) => line.includes('/smuggled'))).toEqual([]);
    expect(heard.text).not.toContain('200 OK');
    expect(heard.text === '' || /^HTTP\/1\.1 [45]/.test(heard.text)).toBe(true);
  });
});

describe('bodies and answers', () => {
  it('should read a body in pieces, and none without a length', async () => {
    const whole = await talk(post('Content-Length: 1000\r\n', 'x'.repeat(1000)), {
      until: COMPLETE,
    });
    const chunked = await talk(
      post('Transfer-Encoding: chunked\r\n', '3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n'),
    );
    expect(whole.text).toContain('"length":1000');
    expect(chunked.text).toMatch(/^HTTP\/1\.1 411 .*"code":"length_required"/s);
    expect(handled).toEqual(['POST /body']);
    whole.socket.destroy();
  });

  it.each([
    ['declared', post('Content-Length: 1001\r\n', 'x'.repeat(1001))],
    ['never sent', post('Content-Length: 99999999\r\n', 'x')],
  ])('should answer 413 and close when a %s body is too large', async (_name, text) => {
    const heard = await talk(text);
    expect(heard.text).toMatch(/^HTTP\/1\.1 413 .*"code":"body_too_large"/s);
    expect(handled).toEqual(['POST /body']);
  });

  it('should handle no request that follows a refused body', async () => {
    const text = post('Content-Length: 1001\r\n', 'x'.repeat(1001));
    await talk(text + get('/smuggled'));
    expect(handled).toEqual(['POST /body']);
  });

  it('should give up a body that dawdles', async () => {
    const heard = await talk(post('Content-Length: 10\r\n', 'abc'));
    expect(heard.text).toMatch(/^HTTP\/1\.1 400 .*did not arrive in time/s);
  });

  it('should survive a peer that goes away in the middle of a body', async () => {
    const socket = connect({
      port,
      host: '127.0.0.1',
      servername: 'localhost',
      ca: assets.serverCaPem,
    });
    await new Promise<void>((resolve) => socket.once('secureConnect', resolve));
    await new Promise<void>((resolve) => {
      socket.write(post('Content-Length: 10\r\n', 'abc'), () => resolve());
    });
    socket.destroy();
    const after = await talk(get(), { until: COMPLETE });
    after.socket.destroy();
    expect(after.text).toContain('200 OK');
    expect(failures).toEqual([]);
  });

  it('should answer a failing handler with problem+json and report it', async () => {
    const heard = await talk(get('/throws'), { until: COMPLETE });
    heard.socket.destroy();
    expect(heard.text).toMatch(/^HTTP\/1\.1 500 .*application\/problem\+json.*"code":"internal"/s);
    expect(heard.text).not.toContain('on purpose');
    expect(failures).toHaveLength(1);
  });

  it('should send no body for HEAD', async () => {
    const text = `HEAD /head HTTP/1.1\r\nHost: localhost\r\n\r\n${get('/head')}`;
    const heard = await talk(text, { until: /hello$/ });
    heard.socket.destroy();
    expect(heard.text.match(/hello/g)).toHaveLength(1);
    expect(heard.text.match(/content-length: 5/gi)).toHaveLength(2);
  });
});
