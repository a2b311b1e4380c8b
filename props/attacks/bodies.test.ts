// Attacks inside a body: documents built to be expensive, compressed bombs, bodies that never end. What is refused costs
// little time and no memory, and nothing of it is ever acknowledged. invariant: I1, I10
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig as loadConsoleConfig } from '../../gateway/config/config.ts';
import { loadConfig as loadSensorConfig } from '../../sensor/config/config.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import {
  codeOf,
  eventsBody,
  heartbeatBody,
  type Identity,
  makeKeys,
  nth,
  STREAM_ID,
  talk,
} from './peer.ts';

const MIB = 1_048_576;
/** Processor time, of both sides: other programs of a shared machine are no part of it. */
const QUICK_MS = 50;
const RSS_MAX_BYTES = 32 * MIB;
const ZSTD = { headers: { 'content-encoding': 'zstd' } };
const folder = mkdtempSync(join(tmpdir(), 'bodies-'));
let console: ConsoleUnderTest;
let identity: Identity;
const events = (body: unknown, more = {}) => console.ask(identity, '/sensors/events', body, more);
const beat = () => console.ask(identity, '/sensors/heartbeat', heartbeatBody(0, []));
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

/** How much the resident memory grew, and what the processor had to do. */
async function costOf(run: () => Promise<unknown>): Promise<{ bytes: number; workMs: number }> {
  const [before, atUsage] = [process.memoryUsage.rss(), process.cpuUsage()];
  await run();
  const { user, system } = process.cpuUsage(atUsage);
  return { bytes: process.memoryUsage.rss() - before, workMs: (user + system) / 1_000 };
}

beforeAll(async () => {
  const [started, keys] = await Promise.all([startConsole(), makeKeys(1)]);
  console = started;
  identity = await console.enroll('node', nth(keys, 0));
});
afterAll(async () => {
  expect(console.errors).toEqual([]);
  await console.stop();
  rmSync(folder, { recursive: true, force: true });
  await removeSharedKeys();
});

describe('attack 15: documents that are expensive to read', () => {
  const deep = [nested(33), nested(5_000), '{"a":'.repeat(5_000), `{"events":${nested(100_000)}}`];

  it('should be refused in little time on every route that reads JSON', async () => {
    const { secret } = await console.newKey(['admin']);
    const headers = { authorization: `Bearer ${secret}` };
    let asked = 0;
    const cost = await costOf(async () => {
      for (const text of deep) {
        const body = Buffer.from(text);
        for (const path of ['events', 'heartbeat', 'inventory', 'renew']) {
          const large = path === 'renew' && body.length > 65_536;
          asked += 1;
          const answer = await console.ask(identity, `/sensors/${path}`, body);
          expect(codeOf(answer)).toEqual(large ? [413, 'body_too_large'] : [400, 'malformed_body']);
        }
        const path = '/api/v2/enrollment-tokens';
        const operator = await console.ask(null, path, body, { headers });
        expect(operator.status).toBe(400);
      }
    });
    expect(cost.workMs / asked).toBeLessThan(QUICK_MS);
  });

  it('should be refused as lines and as frames of a stream too', async () => {
    const headers = {
      'content-type': 'application/x-ndjson',
      'x-service-stream': STREAM_ID,
      'x-service-sequence': '1',
    };
    const lines = await events(Buffer.from(`{}\n${nested(5_000)}\n`), { headers });
    expect(codeOf(lines)).toEqual([400, 'malformed_body']);
    const stream = await console.openStream(identity);
    stream.hello('1'.repeat(32));
    await stream.next('welcome');
    stream.socket.send(nested(5_000));
    expect(await stream.closed).toEqual({ code: 1008, reason: 'malformed_body' });
  });

  it('should change nothing by names that belong to every object', async () => {
    const { secret } = await console.newKey(['admin']);
    const headers = { authorization: `Bearer ${secret}` };
    for (const poison of [
      '{"__proto__":{"admin":true}}',
      '{"constructor":{"prototype":{"a":1}}}',
    ]) {
      const operator = await console.ask(null, '/api/v2/enrollment-tokens', Buffer.from(poison), {
        headers,
      });
      expect([400, 422]).toContain(operator.status);
      const body = JSON.stringify(heartbeatBody(0, [])).replace('{', `${poison.slice(0, -1)},`);
      const answer = await console.ask(identity, '/sensors/heartbeat', Buffer.from(body));
      expect(answer.status).toBe(200);
    }
    const clean: Record<string, unknown> = {};
    expect([clean['admin'], clean['a']]).toEqual([undefined, undefined]);
  });

  it('should be refused when they are no text, half a document or 10 MB', async () => {
    for (const bad of [Buffer.from('{"stream_id":'), Buffer.from([0xff, 0xfe]), Buffer.from('')]) {
      expect(codeOf(await events(bad))).toEqual([400, 'malformed_body']);
    }
    for (const path of ['events', 'heartbeat', 'inventory', 'renew']) {
      const answer = await console.ask(identity, `/sensors/${path}`, Buffer.alloc(10 * MIB, ' '));
      expect(codeOf(answer)).toEqual([413, 'body_too_large']);
    }
  });

  it('should be refused as configuration of either program', async () => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (let at = 1; at < 12; at += 1) {
      const before = String.fromCharCode(96 + at);
      const own = String.fromCharCode(97 + at);
      bomb.push(`${own}: &${own} [${Array.from({ length: 9 }, () => `*${before}`).join(', ')}]`);
    }
    const texts = [
      bomb.join('\n'),
      'labels: !!js/function "function () { return 1 }"',
      'node_name: !!python/object/apply:os.system ["id"]',
      `labels: ${nested(2_000)}`,
      '__proto__: { polluted: true }\nport: no',
      'port: 1\nport: 2',
    ];
    for (const text of texts) {
      writeFileSync(join(folder, 'sensor.yaml'), text);
      const { workMs } = await costOf(async () => {
        const sensor = await loadSensorConfig({ SERVICE_SENSOR_STATE_DIR: folder });
        const gateway = loadConsoleConfig({
          env: { SERVICE_CONSOLE_DATA_DIR: folder },
          isRoot: false,
          readFile: () => text,
        });
        const name = text.slice(0, 40);
        expect([name, sensor.ok, gateway.ok]).toEqual([name, false, false]);
      });
      // The first one loads the parser.
      expect(workMs).toBeLessThan(10 * QUICK_MS);
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('attack 16: compressed bodies that lie about themselves', () => {
  /** A frame of RLE blocks: four bytes become 128 KiB. */
  function frameOf(blocks: number, { window = 0x38, size = null as number | null } = {}): Buffer {
    const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, size === null ? 0x00 : 0x80, window]);
    const content = Buffer.alloc(size === null ? 0 : 4);
    if (size !== null) content.writeUInt32LE(size);
    const body = Array.from({ length: blocks }, (_, at) => {
      const header = (131_072 << 3) | (1 << 1) | (at === blocks - 1 ? 1 : 0);
      return Buffer.from([header & 0xff, (header >> 8) & 0xff, (header >> 16) & 0xff, 0x20]);
    });
    return Buffer.concat([head, content, ...body]);
  }

  it('should be stopped at the limit: 25 KB that become 800 MB', async () => {
    const bomb = frameOf(6_250);
    expect(bomb.length).toBeLessThan(26_000);
    // The first rounds fill the allocator's pools, which are kept; what grows after them would grow for ever.
    const round = async () => {
      for (let n = 0; n < 10; n += 1) {
        expect(codeOf(await events(bomb, ZSTD))).toEqual([413, 'body_too_large']);
      }
    };
    await round();
    const { bytes } = await costOf(async () => {
      for (let n = 0; n < 3; n += 1) await round();
    });
    expect(bytes).toBeLessThan(RSS_MAX_BYTES);
    const paths = [
      ['heartbeat', 4 * MIB],
      ['inventory', 2 * MIB],
      ['renew', 65_536],
    ] as const;
    for (const [path, limit] of paths) {
      const body = zstdCompressSync(Buffer.alloc(limit + 1, ' '));
      const answer = await console.ask(identity, `/sensors/${path}`, body, ZSTD);
      expect(codeOf(answer)).toEqual([413, 'body_too_large']);
    }
    const enroll = await console.ask(null, '/sensors/enroll', frameOf(6_250), ZSTD);
    expect(codeOf(enroll)).toEqual([413, 'body_too_large']);
  });

  it('should be refused whole when size, window, count or end are not what they say', async () => {
    const frame = zstdCompressSync(json(eventsBody(1, [1])));
    const second = zstdCompressSync(json(eventsBody(2, [2])));
    const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 0x01, 0, 0, 0, 0]);
    const odd: readonly Buffer[] = [
      frameOf(2, { size: 10 }),
      frameOf(1, { size: 800_000_000 }),
      frameOf(1, { window: 0x88 }),
      Buffer.concat([frame, second]),
      Buffer.concat([frame, skippable]),
      Buffer.concat([skippable, frame]),
      Buffer.concat([frame, Buffer.from('junk')]),
      Buffer.concat([frame, Buffer.from([0])]),
      frame.subarray(0, -3),
      frame.subarray(0, 5),
      Buffer.from('no frame at all'),
      Buffer.alloc(0),
    ];
    for (const [at, body] of odd.entries()) {
      expect([at, ...codeOf(await events(body, ZSTD))]).toEqual([at, 400, 'malformed_body']);
    }
    expect(console.batchesOf(identity.sensorId)).toHaveLength(0);
    expect((await events(frame, ZSTD)).body).toEqual({ acknowledged_sequence: 1 });
    expect((await events(second, ZSTD)).body).toEqual({ acknowledged_sequence: 2 });
  });

  it('should be of the encoding and type they name', async () => {
    const body = eventsBody(9, [9]);
    const odd = [
      { 'content-type': 'text/plain' },
      { 'content-encoding': 'gzip' },
      { 'content-encoding': 'zstd, zstd' },
      { 'content-type': 'application/json-seq' },
    ];
    for (const headers of odd) {
      expect(codeOf(await events(body, { headers }))).toEqual([415, 'unsupported_encoding']);
    }
    expect(codeOf(await events(body, ZSTD))).toEqual([400, 'malformed_body']);
    const loud = { headers: { 'content-encoding': 'ZSTD' } };
    expect((await events(zstdCompressSync(json(body)), loud)).status).toBe(202);
  });
});

describe('attack 17: bodies that are too long or take for ever', () => {
  const head = 'POST /sensors/events HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n';
  const own = () => ({ cert: identity.cert, key: identity.key });

  it('should be refused one byte above the limit, and without a length', async () => {
    const large = Buffer.alloc(4 * MIB + 1, ' ');
    expect(codeOf(await events(large))).toEqual([413, 'body_too_large']);
    const chunked = { headers: { 'transfer-encoding': 'chunked' } };
    expect(codeOf(await events(Buffer.from('{}'), chunked))).toEqual([411, 'length_required']);
    const enroll = await console.ask(null, '/sensors/enroll', Buffer.alloc(65_537, ' '));
    expect(codeOf(enroll)).toEqual([413, 'body_too_large']);
    // At the limit it is read, and found to be nothing but spaces.
    expect(codeOf(await events(Buffer.alloc(4 * MIB, ' ')))).toEqual([400, 'malformed_body']);
  });

  it('should hear the refusal although they are still sending', async () => {
    // Each time on a connection of its own: bytes that nobody reads would take the answer with them.
    for (const mib of [5, 9, 17, 30]) {
      const body = Buffer.alloc(mib * MIB, ' ');
      const text = Buffer.concat([
        Buffer.from(`${head}content-length: ${body.length}\r\n\r\n`),
        body,
      ]);
      expect(await talk(console, text, own())).toMatch(/^HTTP\/1.1 413 [\s\S]*body_too_large/);
    }
  });

  it('should have been read to their end by then, for a peer that listens only afterwards', async () => {
    for (const mib of [5, 9, 17, 30]) {
      const body = Buffer.alloc(mib * MIB, ' ');
      const socket = connect({ host: '127.0.0.1', port: console.port, ca: console.ca, ...own() });
      socket.pause();
      await once(socket, 'secureConnect');
      socket.write(`${head}content-length: ${body.length}\r\n\r\n`);
      const mistake = await new Promise((sent) => {
        socket.on('error', sent);
        socket.write(body, sent);
      });
      expect([mib, mistake ?? null]).toEqual([mib, null]);
      const heard = await socket.setEncoding('latin1').toArray();
      expect(heard.join('')).toMatch(/^HTTP\/1.1 413 [\s\S]*body_too_large/);
    }
  });

  it('should be given up when they stall or never end, while others are answered', async () => {
    const stalled = talk(console, `${head}content-length: 100\r\n\r\n{"stream_id"`, own());
    expect((await beat()).status).toBe(200);
    expect(await stalled).toMatch(/^HTTP\/1.1 400 [\s\S]*malformed_body/);
    expect((await beat()).status).toBe(200);
  });

  it('should not be read at all from a peer that is nobody', async () => {
    const answer = await talk(console, `${head}content-length: 4194304\r\n\r\n{`);
    expect(answer).toMatch(/^HTTP\/1.1 401 [\s\S]*client_certificate_required/);
  });
});
