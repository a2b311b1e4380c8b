// What the Sensor's transport says to a Console over real TLS, and what it makes of the answers: requests, a proxy in
// between, and the stream. decision: D10
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttp, type IncomingMessage } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { createConsoleClient } from '../../sensor/transport/console-client.ts';
import {
  certificatesIn,
  fetchPinnedCa,
  parseFingerprint,
} from '../../sensor/transport/pinned-ca.ts';
import { openStreamSocket, type StreamHandlers } from '../../sensor/transport/stream-socket.ts';
import { openCertificateAuthority } from '../../storage/keys/certificate-authority.ts';

const INSTANCE = '1'.repeat(32);
const HELLO = {
  ...{ type: 'hello' as const, instance_id: INSTANCE, boot_id: 'b', stream_id: '2'.repeat(32) },
  ...{ sensor_version: '1.0.0', capabilities: [] },
};
const folder = mkdtempSync(join(tmpdir(), 'transport-'));
const sockets = new WebSocketServer({ noServer: true });
const seen: { request: IncomingMessage; body: Buffer }[] = [];
const proxied: IncomingMessage[] = [];
let answer: { status: number; headers?: Record<string, string>; text: string };
let proxyAnswer = '';
let rootsPem = '';
let fingerprint = '';
let url: URL;
let proxyUrl: URL;
let server: ReturnType<typeof createHttps>;
/** Where the peer says nothing. */
const SILENT = 'silent';

const proxy = createHttp().on('connect', (request, socket) => {
  proxied.push(request);
  socket.on('error', () => socket.destroy());
  if (!proxyAnswer.startsWith('HTTP/1.1 200')) return void socket.end(proxyAnswer);
  const to = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
    socket.write(proxyAnswer);
    to.pipe(socket).pipe(to);
  });
  to.on('error', () => to.destroy());
});

beforeAll(async () => {
  const opened = await openCertificateAuthority({ folder, nowMs: Date.now() });
  if (!opened.ok) throw new Error(opened.reason);
  ({ rootsPem } = opened.authority);
  fingerprint = parseFingerprint(certificatesIn(rootsPem)[0]?.fingerprint256 ?? '') ?? '';
  const leaf = await opened.authority.issueServerCertificate(['localhost'], Date.now());
  server = createHttps({ key: leaf.keyPem, cert: leaf.pem }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    seen.push({ request, body: Buffer.concat(chunks) });
    if (answer.text === SILENT) return;
    response.writeHead(answer.status, answer.headers).end(answer.text);
  });
  // It ends no connection by itself.
  server.keepAliveTimeout = 0;
  server.on('upgrade', async (request, socket, head) => {
    seen.push({ request, body: Buffer.alloc(0) });
    if (answer.text === SILENT) return void socket.on('error', () => socket.destroy());
    if (answer.status === 101)
      return sockets.handleUpgrade(request, socket, head, (one) => sockets.emit('connection', one));
    const headers = { 'Content-Length': Buffer.byteLength(answer.text), ...answer.headers };
    const lines = Object.entries(headers).map(([name, text]) => `${name}: ${text}\r\n`);
    // In parts, and the end of the connection is left to the Sensor.
    socket.on('error', () => socket.destroy());
    socket.write(`HTTP/1.1 ${answer.status} No\r\n${lines.join('')}\r\n${answer.text.slice(0, 9)}`);
    await setImmediate();
    await setImmediate();
    if (answer.headers?.['Content-Length'] === undefined) socket.write(answer.text.slice(9));
    else socket.destroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  url = new URL(`https://localhost:${(server.address() as AddressInfo).port}`);
  proxyUrl = new URL(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  proxy.closeAllConnections();
  proxy.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  seen.length = 0;
  proxied.length = 0;
  answer = { status: 200, text: '{"fine":true}' };
  proxyAnswer = 'HTTP/1.1 200 Connection established\r\n\r\n';
});

function clientWith(through: URL | null, onAnswer?: (path: string, given: unknown) => void) {
  return createConsoleClient({
    ...{ baseUrl: url, instanceId: INSTANCE, proxyUrl: through },
    identity: { keyPem: null, certPem: null, caPem: rootsPem },
    ...(onAnswer === undefined ? {} : { onAnswer }),
  });
}

describe('a request to the Console', () => {
  it('should carry its instance, its JSON and its length, and tell whoever listens', async () => {
    const heard: unknown[] = [];
    const client = clientWith(null, (...told) => heard.push(told));
    const given = await client.post('/sensors/x', '{"ü":1}', { timeoutMs: 60_000 });
    expect(given).toMatchObject({ ok: true, status: 200, json: { fine: true } });
    expect(heard).toEqual([['/sensors/x', given]]);
    expect(seen[0]?.request).toMatchObject({ method: 'POST', url: '/sensors/x' });
    expect(seen[0]?.request.headers).toMatchObject({
      ...{ 'x-service-instance': INSTANCE, accept: 'application/json' },
      ...{ 'content-type': 'application/json', 'content-length': '8' },
    });
    expect(seen[0]?.request.headers).not.toHaveProperty('content-encoding');
    expect(seen[0]?.body.toString()).toBe('{"ü":1}');
    client.close();
  });

  it('should be compressed where that is asked, and without a body where it gets', async () => {
    const client = clientWith(null);
    const text = JSON.stringify({ many: 'x'.repeat(5_000) });
    await client.post('/a', text, { timeoutMs: 60_000, isCompressed: true });
    const [{ request, body } = {}] = seen;
    expect(request).toMatchObject({ method: 'POST', url: '/a' });
    expect(request?.headers).toMatchObject({
      ...{ 'content-encoding': 'zstd', 'content-length': String(body?.length) },
    });
    expect(body?.length).toBeLessThan(500);
    expect(zstdDecompressSync(body ?? Buffer.alloc(0)).toString()).toBe(text);
    expect(await client.get('/b', 60_000)).toMatchObject({ ok: true, text: '{"fine":true}' });
    expect(seen[1]?.request).toMatchObject({ method: 'GET', url: '/b' });
    expect(seen[1]?.request.headers).not.toHaveProperty('content-type');
    client.close();
  });

  it('should keep its connection for the next one, until it gets another identity', async () => {
    const client = clientWith(null);
    const ports = async () => {
      await client.get('/', 60_000);
      return seen.at(-1)?.request.socket.remotePort;
    };
    const first = await ports();
    expect(await ports()).toBe(first);
    const before = client.identity();
    const next = { ...before, caPem: `${rootsPem}\n` };
    const socket = seen.at(-1)?.request.socket as NonNullable<IncomingMessage['socket']>;
    const ended = once(socket, 'close');
    client.useIdentity(next);
    await ended;
    expect(client.identity()).toBe(next);
    expect(await ports()).not.toBe(first);
    client.close();
  });

  it('should say why it was refused and how long to wait, or that it was given up', async () => {
    const client = clientWith(null);
    const text = '{"code":"busy","detail":"too much"}';
    answer = { status: 503, headers: { 'retry-after': '7' }, text };
    expect(await client.get('/', 60_000)).toEqual({
      ...{ ok: false, kind: 'refused', status: 503, code: 'busy', detail: 'too much' },
      ...{ retryAfterMs: 7_000, dateMs: expect.any(Number) },
    });
    const signal = AbortSignal.abort(new Error('stopped'));
    const given = await client.post('/', '{}', { timeoutMs: 60_000, signal });
    expect(given).toMatchObject({ ok: false, kind: 'unreachable' });
    client.close();
  });

  it('should be given up after its time where nothing is answered', async () => {
    const client = clientWith(null);
    answer = { status: 200, text: SILENT };
    expect(await client.get('/', 1)).toEqual({
      ...{ ok: false, kind: 'unreachable' },
      trouble: { kind: 'timed_out', detail: 'the request timed out' },
    });
    client.close();
  });

  it('should leave no connection open when its client is closed', async () => {
    const client = clientWith(null);
    await client.get('/', 60_000);
    const socket = seen[0]?.request.socket as NonNullable<IncomingMessage['socket']>;
    const ended = once(socket, 'close');
    client.close();
    await ended;
  });
});

describe('a proxy', () => {
  it('should be asked for the Console with its credentials, and only then', async () => {
    const named = new URL(proxyUrl);
    [named.username, named.password] = ['me@here', 'p:ä'];
    for (const through of [proxyUrl, named]) {
      const client = clientWith(through);
      expect(await client.get('/', 60_000)).toMatchObject({ ok: true });
      client.close();
    }
    expect(proxied.map(({ url: authority }) => authority)).toEqual([url.host, url.host]);
    expect(proxied.map(({ headers }) => headers.host)).toEqual([url.host, url.host]);
    const credentials = `Basic ${Buffer.from('me@here:p:ä').toString('base64')}`;
    expect(proxied.map(({ headers }) => headers['proxy-authorization'])).toEqual([
      ...[undefined, credentials],
    ]);
  });

  it.each([
    ['NO HTTP/1.1 200 Fine\r\n\r\n', 'the proxy refused: NO HTTP/1.1 200 Fine'],
    ['HTTP/1.1 407 Who are you\r\n\r\n', 'the proxy refused: HTTP/1.1 407 Who are you'],
    ['HTTP/1.1 2000 Odd\r\n\r\n more', 'the proxy refused: HTTP/1.1 2000 Odd'],
    [`HTTP/1.1 502 ${'x'.repeat(9_000)}`, `the proxy refused: HTTP/1.1 502 ${'x'.repeat(100)}`],
  ])('should be no way when it does not let through: %.20s', async (said, reason) => {
    proxyAnswer = said;
    const client = clientWith(proxyUrl);
    const given = await client.get('/', 60_000);
    expect(given).toMatchObject({ ok: false, trouble: { kind: 'connection_lost' } });
    expect(JSON.stringify(given)).toContain(reason);
    expect(seen).toEqual([]);
    client.close();
  });

  it('should be missed where nobody listens', async () => {
    const nobody = createHttp();
    await once(nobody.listen(0, '127.0.0.1'), 'listening');
    const { port } = nobody.address() as AddressInfo;
    await once(nobody.close(), 'close');
    const client = clientWith(new URL(`http://127.0.0.1:${port}`));
    expect(await client.get('/', 60_000)).toMatchObject({
      ...{ ok: false, trouble: { kind: 'connection_refused' } },
    });
    client.close();
  });
});

describe('the CA that a person pinned', () => {
  it('should be found among others, and be all that is kept', async () => {
    answer = { status: 200, text: `junk\n${rootsPem}\n` };
    const found = await fetchPinnedCa(url, fingerprint, null);
    expect(found).toMatchObject({ ok: true });
    expect(certificatesIn(found.ok ? found.caPem : '')).toHaveLength(1);
    expect(seen[0]?.request).toMatchObject({ method: 'GET', url: '/ca.pem' });
  });

  it('should be missed in a sentence with what to do', async () => {
    const reasonOf = async () => {
      const found = await fetchPinnedCa(url, 'ab'.repeat(32), null);
      return found.ok ? 'taken' : [found.isReachable, found.reason];
    };
    answer = { status: 200, text: rootsPem };
    expect(await reasonOf()).toEqual([
      true,
      `the CA of ${url.host} is ${fingerprint}, and --ca-fingerprint names ${'ab'.repeat(32)}: compare with the Console itself`,
    ]);
    answer = { status: 200, text: '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----' };
    expect(await reasonOf()).toEqual([
      ...[true, `what answers at ${url.host} shows no CA: check --url`],
    ]);
    answer = { status: 404, text: '' };
    expect(await reasonOf()).toEqual([
      ...[true, `what answers at ${url.host} is no Console (http_404): check --url`],
    ]);
  });

  it('should be out of reach where nothing listens', async () => {
    const nobody = createHttp();
    await once(nobody.listen(0, '127.0.0.1'), 'listening');
    const { port } = nobody.address() as AddressInfo;
    await once(nobody.close(), 'close');
    const found = await fetchPinnedCa(new URL(`https://127.0.0.1:${port}`), fingerprint, null);
    expect(found).toMatchObject({ ok: false, isReachable: false });
    expect(found.ok ? '' : found.reason).toContain('nothing listens at');
  });
});

describe('the stream', () => {
  /** Opened to the peer, with what the peer gets and what the Sensor hears. */
  async function opened() {
    answer = { status: 101, text: '' };
    const got: unknown[] = [];
    const heard: unknown[] = [];
    const closed = Promise.withResolvers<unknown[]>();
    const handlers: StreamHandlers = {
      onFrame: (frame) => heard.push(frame),
      onClosed: (...why) => closed.resolve(why),
    };
    const connected = once(sockets, 'connection');
    const client = clientWith(null);
    const opening = openStreamSocket(client, HELLO, handlers, 60_000);
    const [peer] = (await connected) as [WebSocket];
    const said = (count: number) => {
      const all = Promise.withResolvers<void>();
      const look = () => got.length >= count && all.resolve();
      peer.on('message', look);
      look();
      return all.promise;
    };
    peer.on('message', (data) => got.push(JSON.parse(String(data))));
    const result = await opening;
    if (!result.ok) throw new Error(result.code);
    return { ...{ client, peer, got, heard, said }, socket: result.socket, closed: closed.promise };
  }

  it('should greet, answer pings, hand frames on and say goodbye', async () => {
    const { client, peer, got, heard, said, socket, closed } = await opened();
    await said(1);
    expect(got).toEqual([HELLO]);
    const { headers, url: path } = seen[0]?.request ?? {};
    expect([path, headers]).toMatchObject([
      '/sensors/stream',
      { 'x-service-instance': INSTANCE, 'sec-websocket-protocol': 'service.stream.v1' },
    ]);
    const ping = { type: 'ping', at: '2026-01-01T00:00:00.000Z' };
    peer.send(Buffer.from(JSON.stringify({ type: 'revoked' })), { binary: true });
    peer.send('{"type":"of tomorrow"}');
    peer.send('no JSON');
    peer.send(JSON.stringify({ type: 'ack', sequence: 3 }));
    peer.send(JSON.stringify(ping));
    await said(2);
    expect(headers).not.toHaveProperty('sec-websocket-extensions');
    expect(got.slice(1)).toEqual([{ type: 'pong', at: ping.at, instance_id: INSTANCE }]);
    expect(heard).toEqual([{ type: 'ack', sequence: 3 }, ping]);
    socket.send({ type: 'pong' });
    socket.sendText('{"type":"events"}');
    socket.close('stopping');
    const [code] = (await once(peer, 'close')) as [number];
    expect(got.slice(2)).toEqual([
      ...[{ type: 'pong' }, { type: 'events' }, { type: 'goodbye', reason: 'stopping' }],
    ]);
    expect([code, await closed]).toEqual([1000, ['', 1000]]);
    socket.send({ type: 'pong' });
    client.close();
  });

  it('should say how the peer ended it, and end without a word where none is given', async () => {
    const one = await opened();
    one.peer.close(1008, 'revoked');
    expect(await one.closed).toEqual(['revoked', 1008]);
    const other = await opened();
    await other.said(1);
    other.socket.close();
    await other.closed;
    expect(other.got).toEqual([HELLO]);
    for (const { client } of [one, other]) client.close();
  });

  it('should go through the proxy, too', async () => {
    const client = clientWith(proxyUrl);
    const never = { onFrame: () => undefined, onClosed: () => undefined };
    proxyAnswer = 'HTTP/1.1 407 Who are you\r\n\r\n';
    expect(await openStreamSocket(client, HELLO, never, 60_000)).toMatchObject({
      ...{ ok: false, code: '', retryAfterMs: null },
      trouble: { kind: 'connection_lost', detail: 'the proxy refused: HTTP/1.1 407 Who are you' },
    });
    expect([proxied.map(({ url: authority }) => authority), seen]).toEqual([[url.host], []]);
    client.close();
  });

  it('should be given up after its time where nothing is answered', async () => {
    const client = clientWith(null);
    answer = { status: 101, text: SILENT };
    const closed = Promise.withResolvers<unknown[]>();
    const handlers = {
      onFrame: () => undefined,
      onClosed: (...why: unknown[]) => closed.resolve(why),
    };
    expect(await openStreamSocket(client, HELLO, handlers, 1)).toMatchObject({
      ...{ ok: false, trouble: { kind: 'timed_out' } },
    });
    expect(await closed.promise).toEqual(['', 1006]);
    client.close();
  });

  it('should say why it was refused', async () => {
    const client = clientWith(null);
    const never = { onFrame: () => undefined, onClosed: () => undefined };
    answer = { status: 429, headers: { 'Retry-After': '3' }, text: '{"code":"busy"}' };
    expect(await openStreamSocket(client, HELLO, never, 60_000)).toEqual({
      ...{ ok: false, code: 'busy', retryAfterMs: 3_000 },
      trouble: { kind: 'connection_refused', detail: 'HTTP 429' },
    });
    const { socket } = seen[0]?.request ?? {};
    if (socket?.destroyed === false) await once(socket, 'close');
    answer = { status: 500, headers: { 'Content-Length': '99' }, text: 'this was to be longer' };
    expect(await openStreamSocket(client, HELLO, never, 60_000)).toMatchObject({ ok: false });
    answer = { status: 500, text: `{"code":"${' '.repeat(40_000)}"}` };
    expect(await openStreamSocket(client, HELLO, never, 60_000)).toMatchObject({
      ...{ ok: false, code: '', retryAfterMs: null },
    });
    client.close();
  });
});
