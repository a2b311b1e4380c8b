// Attacks on the way of events: bombs, slow and smuggled bodies, foreign ids, repeated and conflicting numbers, stores
// that go away. invariant: I1, I9, I10; decision: D6
import { connect } from 'node:tls';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Answer,
  eventOf,
  eventsBody,
  heartbeatBody,
  type Identity,
  type KeyPair,
  makeKeys,
  STREAM_ID,
} from './sensor-plane.client.ts';
import {
  removeSharedKeys,
  type SensorPlaneUnderTest,
  startSensorPlane,
} from './sensor-plane.fixture.ts';

let plane: SensorPlaneUnderTest;
let keys: readonly KeyPair[];
let identity: Identity;
let nodes = 0;
const ZSTD = { headers: { 'content-encoding': 'zstd' } };
const events = (body: unknown, more = {}) => plane.ask(identity, '/sensors/events', body, more);
const heartbeat = (body: unknown) => plane.ask(identity, '/sensors/heartbeat', body);
const codeOf = (answer: Answer) => [answer.status, answer.body['code']];
const stored = () => plane.stores.held.batches.filter((one) => one.sensorId === identity.sensorId);
const json = (value: unknown) => Buffer.from(JSON.stringify(value));

beforeAll(async () => {
  [plane, keys] = await Promise.all([startSensorPlane(), makeKeys(1)]);
});
beforeEach(async () => {
  const [own] = keys;
  if (own === undefined) throw new Error('no key');
  plane.switches.database = true;
  plane.switches.events = true;
  nodes += 1;
  identity = await plane.enroll(`node-${nodes}`, own);
});
afterAll(async () => {
  await plane.stop();
  await removeSharedKeys();
});

describe('a batch of events', () => {
  it('is stored once however often it is sent, and acknowledged by its own number', async () => {
    const first = await events(eventsBody(5, [1, 2]));
    expect([first.status, first.body]).toEqual([202, { acknowledged_sequence: 5 }]);
    expect((await events(eventsBody(5, [1, 2]))).body).toEqual({ acknowledged_sequence: 5 });
    expect((await events(eventsBody(2, [3]))).body).toEqual({ acknowledged_sequence: 2 });
    expect(stored().map((one) => one.sequence)).toEqual([5, 2]);
    expect(plane.ingest.ledgers.gapsOf(identity.sensorId)).toEqual({ missing: 3, lost: 0 });
  });

  it('is refused when its number holds other content, also long after', async () => {
    await events(eventsBody(1, [1]));
    expect(codeOf(await events(eventsBody(1, [2])))).toEqual([409, 'sequence_conflict']);
    for (let n = 2; n <= 70; n += 1) await events(eventsBody(n, [n]));
    expect(codeOf(await events(eventsBody(1, [2])))).toEqual([409, 'sequence_conflict']);
    expect((await events(eventsBody(1, [1]))).status).toBe(202);
    expect(codeOf(await heartbeat(heartbeatBody(1, [2])))).toEqual([200, undefined]);
  });

  it('comes as lines too, with its number in the headers', async () => {
    const lines = Buffer.from(`${[1, 2].map((n) => JSON.stringify(eventOf(n))).join('\n')}\n`);
    const named = { 'x-service-stream': STREAM_ID, 'x-service-sequence': '9' };
    const type = { 'content-type': 'application/x-ndjson' };
    const headers = { ...type, ...named, 'content-encoding': 'zstd' };
    const answer = await events(zstdCompressSync(lines), { headers });
    expect([answer.status, answer.body]).toEqual([202, { acknowledged_sequence: 9 }]);
    expect(stored()[0]?.events).toHaveLength(2);
    const unnamed = await events(lines, { headers: type });
    expect(codeOf(unnamed)).toEqual([422, 'schema_violation']);
    const torn = await events(lines.subarray(0, -9), { headers: { ...type, ...named } });
    expect(codeOf(torn)).toEqual([400, 'malformed_body']);
  });

  it('belongs to the certificate, whatever the body says', async () => {
    const body = { ...eventsBody(1, [1]), sensor_id: 'someone-else', node_name: 'other' };
    expect((await events(body)).status).toBe(202);
    const batch = plane.stores.held.batches.at(-1);
    expect([batch?.sensorId, batch?.nodeName]).toEqual([identity.sensorId, `node-${nodes}`]);
  });

  it('is not acknowledged while the event store is away, and is welcome later', async () => {
    plane.switches.events = false;
    const away = await events(eventsBody(1, [1]));
    expect(codeOf(away)).toEqual([503, 'store_unavailable']);
    expect(away.headers['retry-after']).toBe('2');
    plane.switches.events = true;
    expect((await events(eventsBody(1, [1]))).status).toBe(202);
  });

  it('waits in a bounded lane per sensor', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        plane.ingest.ingest({
          identity: { sensorId: identity.sensorId, nodeName: 'node' },
          streamId: STREAM_ID,
          channel: 'stream',
          sequence: n + 1,
          events: [],
          receivedAtMs: 0,
        }),
      ),
    );
    const taken = answers.filter((one) => one.ok);
    expect(taken).toHaveLength(33);
    expect(stored().map((one) => one.sequence)).toEqual(taken.map((_, n) => n + 1));
  });
});

describe('a heartbeat', () => {
  it('is acknowledged when durable, and asks for the full state the first time', async () => {
    const first = await heartbeat(heartbeatBody(1, [1]));
    expect(first.body).toMatchObject({
      acknowledged_sequence: 1,
      trust_health: 'healthy',
      is_contained: false,
      certificate: { renewal_state: 'trusted', renew_now: false },
      settings: { heartbeat_interval_seconds: 15 },
      report_full_state: true,
    });
    const second = await heartbeat(heartbeatBody(0, []));
    expect(second.body['acknowledged_sequence']).toBe(1);
    expect(second.body['report_full_state']).toBeUndefined();
    expect(plane.stores.held.facts.get(identity.sensorId)?.bootId).toBe('boot');
  });

  it('keeps its facts and its acknowledgment when only the event store is away', async () => {
    await heartbeat(heartbeatBody(1, [1]));
    plane.switches.events = false;
    plane.stores.held.facts.clear();
    const away = await heartbeat(heartbeatBody(2, [2]));
    expect(away.status).toBe(200);
    expect(away.body).toMatchObject({ acknowledged_sequence: 1, retry_after_ms: 1_500 });
    expect(plane.stores.held.facts.has(identity.sensorId)).toBe(true);
    plane.switches.events = true;
    expect((await heartbeat(heartbeatBody(2, [2]))).body['acknowledged_sequence']).toBe(2);
  });

  it('is answered 503 when the database is away', async () => {
    plane.switches.database = false;
    const away = await heartbeat(heartbeatBody(1, [1]));
    expect(codeOf(away)).toEqual([503, 'store_unavailable']);
    expect(Number(away.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('writes connections only when they changed', async () => {
    const one = { protocol: 'tcp', local_ip: '::1', local_port: 1, remote_ip: '::1' };
    const two = { ...one, remote_port: 2, state: 'open' };
    const key = `${identity.sensorId}/connections`;
    const send = (connections: unknown[]) => heartbeat({ ...heartbeatBody(0, []), connections });
    const other = { ...two, local_port: 3 };
    await send([two, other]);
    await expect.poll(() => plane.stores.held.inventory.get(key)?.items).toHaveLength(2);
    plane.stores.held.inventory.delete(key);
    await send([other, two]);
    expect(plane.stores.held.inventory.has(key)).toBe(false);
    await send([]);
    await expect.poll(() => plane.stores.held.inventory.get(key)?.items).toHaveLength(0);
  });

  it('needs a number when it carries events, and the schema it declares', async () => {
    expect(codeOf(await heartbeat(heartbeatBody(0, [1])))).toEqual([422, 'schema_violation']);
    const bad = await heartbeat({ ...heartbeatBody(1, []), sequence: -1 });
    expect(codeOf(bad)).toEqual([422, 'schema_violation']);
    expect(bad.body['errors']).toMatchObject([{ pointer: '/sequence' }]);
  });
});

describe('an inventory', () => {
  const hash = (n: number) => n.toString(16).padStart(64, '0');
  const send = (processes: unknown, isFull = false) =>
    plane.ask(identity, '/sensors/inventory', {
      is_full_snapshot: isFull,
      sections: { processes },
    });

  it('is stored when its hash differs, whole or as a delta on what is known', async () => {
    const items = [{ pid: 1, cpu_percent: 1 }, { pid: 2 }];
    expect((await send({ hash: hash(1), items })).body).toMatchObject({ stored: ['processes'] });
    expect((await send({ hash: hash(1), items })).body).toMatchObject({ unchanged: ['processes'] });
    const delta = { base_hash: hash(1), hash: hash(2), added: [{ pid: 3 }], removed: [{ pid: 1 }] };
    expect((await send(delta, true)).body).toMatchObject({ need_full: ['processes'] });
    expect((await send(delta)).body).toMatchObject({ stored: ['processes'] });
    const key = `${identity.sensorId}/processes`;
    expect(plane.stores.held.inventory.get(key)?.items).toEqual([{ pid: 2 }, { pid: 3 }]);
    const unknown = { ...delta, base_hash: hash(7), hash: hash(8) };
    expect((await send(unknown)).body).toMatchObject({ need_full: ['processes'] });
    const absent = { base_hash: hash(2), hash: hash(3), added: [], removed: [{ pid: 99 }] };
    expect((await send(absent)).body).toMatchObject({ need_full: ['processes'] });
  });

  it('is answered 503 while the database is away', async () => {
    plane.switches.database = false;
    expect(codeOf(await send({ hash: hash(1), items: [] }))).toEqual([503, 'store_unavailable']);
  });
});

describe('a hostile body', () => {
  const bomb = () => zstdCompressSync(Buffer.alloc(64 * 1_048_576));

  it('is counted before and after decompression', async () => {
    const large = Buffer.alloc(4 * 1_048_576 + 1, ' ');
    expect(codeOf(await events(large))).toEqual([413, 'body_too_large']);
    expect(codeOf(await events(bomb(), ZSTD))).toEqual([413, 'body_too_large']);
    const chunked = { headers: { 'transfer-encoding': 'chunked' } };
    expect(codeOf(await events(large, chunked))).toEqual([413, 'body_too_large']);
    const inventory = Buffer.alloc(2 * 1_048_576 + 1, ' ');
    const answer = await plane.ask(identity, '/sensors/inventory', inventory);
    expect(codeOf(answer)).toEqual([413, 'body_too_large']);
    const enroll = await plane.ask(null, '/sensors/enroll', Buffer.alloc(65_537, ' '));
    expect(codeOf(enroll)).toEqual([413, 'body_too_large']);
  });

  it('is exactly one frame, or nothing of it is acknowledged', async () => {
    const frame = zstdCompressSync(json(eventsBody(1, [1])));
    const second = zstdCompressSync(json(eventsBody(2, [2])));
    for (const body of [
      Buffer.concat([frame, second]),
      Buffer.concat([frame, Buffer.from('junk')]),
      frame.subarray(0, -3),
      Buffer.from('no frame at all'),
    ]) {
      expect(codeOf(await events(body, ZSTD))).toEqual([400, 'malformed_body']);
    }
    expect(stored()).toHaveLength(0);
    expect((await events(frame, ZSTD)).status).toBe(202);
  });

  it('is of a known type and encoding, whole, shallow and text', async () => {
    const body = eventsBody(1, [1]);
    const typed = await events(body, { headers: { 'content-type': 'text/plain' } });
    expect(codeOf(typed)).toEqual([415, 'unsupported_encoding']);
    const gzip = await events(body, { headers: { 'content-encoding': 'gzip' } });
    expect(codeOf(gzip)).toEqual([415, 'unsupported_encoding']);
    const deep = Buffer.from(`${'['.repeat(5_000)}${']'.repeat(5_000)}`);
    for (const bad of [deep, Buffer.from('{"stream_id":'), Buffer.from([0xff, 0xfe])]) {
      expect(codeOf(await events(bad))).toEqual([400, 'malformed_body']);
    }
  });

  it('is answered by method and path too', async () => {
    const wrong = await plane.ask(identity, '/sensors/heartbeat', null, { method: 'GET' });
    expect([...codeOf(wrong), wrong.headers['allow']]).toEqual([405, 'method_not_allowed', 'POST']);
    const stream = await plane.ask(identity, '/sensors/stream', {});
    expect([...codeOf(stream), stream.headers['allow']]).toEqual([
      405,
      'method_not_allowed',
      'GET',
    ]);
    expect(codeOf(await plane.ask(identity, '/sensors/other'))).toEqual([404, 'not_found']);
    const plain = await plane.ask(identity, '/sensors/stream', null, { method: 'GET' });
    expect(codeOf(plain)).toEqual([400, 'malformed_request']);
  });

  it('that never ends is given up, and others are served meanwhile', async () => {
    const slow = raw(
      'POST /sensors/events HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n' +
        'content-length: 100\r\n\r\n{"stream_id"',
    );
    expect((await heartbeat(heartbeatBody(0, []))).status).toBe(200);
    expect(await slow).toMatch(/^HTTP\/1.1 400 [\s\S]*malformed_body/);
  });

  it('with two lengths or two framings is refused, and nothing behind it is read', async () => {
    const smuggled = 'GET /browser HTTP/1.1\r\nhost: a\r\n\r\n';
    const head = 'POST /sensors/events HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n';
    for (const framing of [
      `content-length: 2\r\ncontent-length: ${2 + smuggled.length}\r\n\r\n{}`,
      'content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}',
      ' folded: x\r\ncontent-length: 2\r\n\r\n{}',
    ]) {
      const answer = await raw(`${head}${framing}${smuggled}`);
      expect(answer.match(/HTTP\/1.1 /g)?.length ?? 0).toBeLessThanOrEqual(1);
      expect(answer).not.toContain('browser');
      if (answer !== '') expect(answer).toMatch(/^HTTP\/1.1 4/);
    }
  });
});

/** Sends bytes over mutual TLS and reads until the Console closes. */
function raw(bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const { cert, key } = identity;
    const socket = connect({ host: '127.0.0.1', port: plane.port, ca: plane.ca, cert, key }, () => {
      socket.write(bytes);
    });
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
  });
}
