// Attack 18 once more, below every handler: what the pinned parser of HTTP and WebSocket answers by itself, so that another
// binary that answers otherwise is seen, and that no framing it reads otherwise than others gives a handler a wrong body.
// decision: D2, D74
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { CLOSE_POLICY } from '../../gateway/live/live-hub.ts';
import { STREAM_FRAME_MAX_BYTES, STREAM_MISSED_PONGS_MAX } from '../../machines/limits.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { codeOf, eventsBody, type Identity, PATIENT, talk } from './peer.ts';

let console: ConsoleUnderTest;
let identity: Identity;
let head = '';
const INSTANCE = '1'.repeat(32);
const FRAGMENTS = 5_000;

beforeAll(async () => {
  console = await startConsole({ intervals: { STREAM_OPEN_TIMEOUT_MS: 3_000 } });
  identity = await console.enroll('node');
  const { secret } = await console.newKey(['admin']);
  head =
    `POST /api/v2/enrollment-tokens HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${secret}\r\n` +
    'content-type: application/json\r\n';
});
afterAll(async () => {
  await console.stop();
  await removeSharedKeys();
});

const send = (text: string, until?: RegExp) =>
  talk(console, Buffer.from(text, 'latin1'), {
    ...{ cert: identity.cert, key: identity.key },
    ...(until === undefined ? {} : { until }),
  });
const tokens = async () =>
  (await console.stores.relational.sensors.listTokens({ limit: 500, before: null })).length;

describe('attack 18: framing that only some readers take', () => {
  const NOTE = '{"note":"abcdef"}';
  const CHUNKED: readonly (readonly [string, string])[] = [
    ['well framed', `11\r\n${NOTE}\r\n0\r\n\r\n`],
    ['an empty size', `\r\n${NOTE}\r\n0\r\n\r\n`],
    ['an empty size and nothing else', '\r\n'],
    ['a size padded before', ` 11\r\n${NOTE}\r\n0\r\n\r\n`],
    ['a size padded behind', `11 \r\n${NOTE}\r\n0\r\n\r\n`],
    ['an extension', `11;a=b\r\n${NOTE}\r\n0\r\n\r\n`],
    ['a trailer', `11\r\n${NOTE}\r\n0\r\nx-a: b\r\n\r\n`],
    ['an empty size in the middle', `11\r\n${NOTE}\r\n\r\n5\r\nabcde\r\n0\r\n\r\n`],
    ['a cut after the first chunk', `11\r\n${NOTE}\r\n\r\n`],
    ['bare line feeds', `11\n${NOTE}\n0\n\n`],
    ['no line end behind a chunk', `11\r\n${NOTE}0\r\n\r\n`],
    ['other bytes for a line end', `11\r\n${NOTE}xx0\r\n\r\n`],
    ['a size in capitals', `B\r\n{"note":""}\r\n0\r\n\r\n`],
    ['no chunk at all', '0\r\n\r\n'],
    ['a size with a prefix', `0x11\r\n${NOTE}\r\n0\r\n\r\n`],
  ];

  it.each(CHUNKED)('should reach no handler in chunks: %s', async (_name, chunks) => {
    const before = await tokens();
    const heard = await send(`${head}transfer-encoding: chunked\r\n\r\n${chunks}`);
    // The parser ends the connection by itself when it reads a second request behind the first.
    if (heard !== '') expect(heard).toMatch(/^HTTP\/1\.1 (411 [\s\S]*length_required|[45]\d\d )/);
    expect(await tokens()).toBe(before);
  });

  it('should reach it whole with a length', async () => {
    const before = await tokens();
    const text = `${head}content-length: ${NOTE.length}\r\n\r\n${NOTE}`;
    expect(await send(text, /"note":"abcdef"/)).toMatch(/^HTTP\/1\.1 201 [\s\S]*"abcdef"/);
    expect(await tokens()).toBe(before + 1);
  });
});

describe('attack 18: what the parser answers by itself', () => {
  const line = (text: string) => new RegExp(`^HTTP/1\\.1 ${text}`);
  const NATIVE: readonly (readonly [string, string, RegExp])[] = [
    [
      'a header of 20 kB',
      `GET /livez HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`,
      line('431'),
    ],
    ['200 headers', `GET /livez HTTP/1.1\r\nhost: a\r\n${'x: a\r\n'.repeat(200)}\r\n`, line('431')],
    [
      'an absolute address',
      'GET https://evil.example/livez HTTP/1.1\r\nhost: a\r\n\r\n',
      line('505'),
    ],
    ['the address of a tunnel', 'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n', line('505')],
    ['bare line feeds', 'GET /livez HTTP/1.1\nhost: a\n\n', line('505')],
    ['HTTP/1.0', 'GET /livez HTTP/1.0\r\nhost: a\r\n\r\n', line('505')],
    ['HTTP/2.0', 'GET /livez HTTP/2.0\r\nhost: a\r\n\r\n', line('505')],
    ['no host', 'GET /livez HTTP/1.1\r\n\r\n', line('400')],
    ['what is no HTTP', '\x16\x03\x01 hello\r\n\r\n', line('505')],
  ];

  it.each(NATIVE)(
    'should be this, and the connection closed, for %s',
    async (_name, text, answer) => {
      const heard = await send(text);
      expect(heard).toMatch(answer);
      expect(heard.match(/HTTP\/1\.1 \d{3}/g)).toHaveLength(1);
      // Of the Console it tells nothing: no version, no path, nothing that was sent.
      expect(heard).not.toMatch(/evil|uWebSockets\.js|node/i);
    },
  );

  it.each(['QUERY', 'FOO', 'TRACE', 'PROPFIND'])(
    'should be 405 for the method %s',
    async (method) => {
      for (const [path, allow] of [
        ['/livez', 'GET, HEAD'],
        ['/sensors/heartbeat', 'POST'],
      ]) {
        const heard = await send(`${method} ${path} HTTP/1.1\r\nhost: a\r\n\r\n`, /"request_id"/);
        expect(heard).toMatch(/^HTTP\/1\.1 405 [\s\S]*method_not_allowed/);
        expect(heard.toLowerCase()).toContain(`allow: ${allow}`.toLowerCase());
      }
    },
  );
});

describe('attack 18: frames that break the protocol', () => {
  const UPGRADE =
    'GET /sensors/stream HTTP/1.1\r\nhost: a\r\nupgrade: websocket\r\nconnection: upgrade\r\n' +
    'sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n' +
    'sec-websocket-protocol: service.stream.v1\r\n\r\n';

  /** Opens a stream by hand, says the bytes once it is open, and gives all that was heard until it was closed. */
  function sayAfterUpgrade(bytes: Buffer): Promise<string> {
    const { cert, key } = identity;
    const socket = connect({ host: '127.0.0.1', port: console.port, ca: console.ca, cert, key });
    socket.write(UPGRADE);
    let heard = '';
    return new Promise((resolve) => {
      socket.on('data', (chunk) => {
        const isOpen = heard.includes('\r\n\r\n');
        heard += chunk.toString('latin1');
        if (!isOpen && heard.includes('\r\n\r\n')) socket.write(bytes);
      });
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(heard));
    });
  }

  it.each([
    ['with a reserved bit', [0xf1, 0x82, 0, 0, 0, 0, 0x7b, 0x7d]],
    ['of a reserved kind', [0x83, 0x82, 0, 0, 0, 0, 0x7b, 0x7d]],
    ['that continues nothing', [0x80, 0x82, 0, 0, 0, 0, 0x7b, 0x7d]],
    ['of control that is cut', [0x09, 0x82, 0, 0, 0, 0, 0x7b, 0x7d]],
  ])('should close the connection at a frame %s', async (_name, bytes) => {
    const heard = await sayAfterUpgrade(Buffer.from(bytes));
    expect(heard).toMatch(/^HTTP\/1\.1 101/);
    // Not by the time-out that ends a stream on which nothing is said.
    expect(heard).not.toContain('timed_out');
    await expect.poll(() => console.streams.count(), PATIENT).toBe(0);
  });

  it('should never understand a frame without a mask: it takes the first four bytes for one', async () => {
    const text = Buffer.from('{"type":"hello"}');
    const heard = await sayAfterUpgrade(Buffer.concat([Buffer.from([0x81, text.length]), text]));
    expect(heard).toMatch(/^HTTP\/1\.1 101[\s\S]*(timed_out|malformed_body)/);
    expect(heard).not.toContain('welcome');
  });

  /** A message with many empty fragments inside it, which says the same. */
  function inFragments(socket: WebSocket, text: string): void {
    socket.send(text.slice(0, 5), { fin: false });
    for (let n = 0; n < FRAGMENTS; n += 1) socket.send('', { fin: false });
    socket.send(text.slice(5), { fin: true });
  }

  it('should end a stream of empty fragments that no message ends, by the pong that cannot come', async () => {
    const opened = await console.openStream(identity);
    opened.hello(INSTANCE);
    await opened.next('welcome');
    // It would answer: but a message inside a message ends the connection, and a fragment is no pong.
    opened.stopAnswering();
    const timer = setInterval(() => opened.socket.send('', { fin: false }), 5);
    const { reason } = await opened.closed;
    clearInterval(timer);
    expect(reason).toBe('pong_missed');
    await expect.poll(() => console.streams.count(), PATIENT).toBe(0);
    const events = await console.ask(identity, '/sensors/events', eventsBody(1, [1]));
    expect(codeOf(events)).toEqual([202, undefined]);
  });

  it('should not count the empty fragments of a stream whose messages end: the parser shows them to nobody', async () => {
    const opened = await console.openStream(identity);
    opened.hello(INSTANCE);
    await opened.next('welcome');
    opened.stopAnswering();
    let answered = 0;
    const enough = Promise.withResolvers<void>();
    opened.socket.on('message', (data) => {
      if (JSON.parse(data.toString()).type !== 'ping') return;
      inFragments(opened.socket, JSON.stringify({ type: 'pong', instance_id: INSTANCE }));
      answered += 1;
      if (answered > STREAM_MISSED_PONGS_MAX + 1) enough.resolve();
    });
    await Promise.race([enough.promise, opened.closed]);
    // Longer than an unanswered stream lives, and what it says is heard.
    const batch = { type: 'events', ...eventsBody(1, [1]) };
    inFragments(opened.socket, JSON.stringify(batch));
    expect(await opened.next('ack')).toMatchObject({ sequence: 1 });
    opened.socket.terminate();
    await expect.poll(() => console.streams.count(), PATIENT).toBe(0);
  });

  it('should end a stream whose message is too long in fragments, and one that begins a message inside another', async () => {
    for (const say of [
      (socket: WebSocket) => {
        const piece = ' '.repeat(STREAM_FRAME_MAX_BYTES / 4);
        for (let n = 0; n < 5; n += 1) socket.send(piece, { fin: false });
      },
      (socket: WebSocket) => {
        socket.send('{', { fin: false });
        // The first byte of a frame of its own: text, and the end of it.
        const raw = (socket as unknown as { _socket: TLSSocket })._socket;
        raw.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x7b, 0x7d]));
      },
    ]) {
      const opened = await console.openStream(identity);
      opened.hello(INSTANCE);
      await opened.next('welcome');
      say(opened.socket);
      // By the parser: the Console itself always says why.
      expect(await opened.closed).toEqual({ code: 1_006, reason: '' });
      await expect.poll(() => console.streams.count(), PATIENT).toBe(0);
    }
  });

  it('should not count them on the live channel either, which goes on beside them and ends with its key', async () => {
    const key = await console.newKey(['admin']);
    const socket = new WebSocket(`wss://127.0.0.1:${console.port}/api/v2/live`, {
      ...{ ca: console.ca, headers: { authorization: `Bearer ${key.secret}` } },
    });
    const heard: { topic?: string }[] = [];
    socket.on('message', (data) => heard.push(JSON.parse(data.toString())));
    socket.on('error', () => undefined);
    const closed = once(socket, 'close');
    await once(socket, 'open');
    inFragments(socket, JSON.stringify({ subscribe: [{ topic: 'fleet' }] }));
    await expect.poll(() => heard.map(({ topic }) => topic), PATIENT).toContain('fleet');
    // A message that never ends: what was asked for goes on beside it, and the key ends it like any other channel.
    const piece = () => new Promise((sent) => socket.send('', { fin: false }, sent));
    for (let n = 0; n < FRAGMENTS; n += 1) await piece();
    const timer = setInterval(piece, 5);
    const { sensorId } = await console.enroll('beside-fragments');
    await expect.poll(() => JSON.stringify(heard), PATIENT).toContain(sensorId);
    await console.stores.relational.apiKeys.revoke({ keyId: key.keyId, nowMs: console.time.now() });
    const [code] = await closed;
    clearInterval(timer);
    expect(code).toBe(CLOSE_POLICY);
  });
});
