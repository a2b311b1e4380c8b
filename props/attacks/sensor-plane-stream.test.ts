// Attacks on the stream: clones, silence, floods, frames that do not fit, identities that end while it is open.
// invariant: I1, I3, I9, I10; decision: D10
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  eventOf,
  heartbeatBody,
  type Identity,
  type KeyPair,
  makeCsr,
  makeKeys,
  type TestStream,
} from './sensor-plane.client.ts';
import {
  removeSharedKeys,
  type SensorPlaneUnderTest,
  startSensorPlane,
} from './sensor-plane.fixture.ts';

const HOUR_MS = 3_600_000;
const ONE = '1'.repeat(32);
const TWO = '2'.repeat(32);
let plane: SensorPlaneUnderTest;
let keys: readonly KeyPair[];
let identity: Identity;
const key = (n: number): KeyPair => {
  const found = keys[n];
  if (found === undefined) throw new Error('no such key');
  return found;
};
const batch = (sequence: number, ids: readonly number[]) => ({
  type: 'events',
  sequence,
  events: ids.map(eventOf),
});
async function stream(instance = ONE, own = identity): Promise<TestStream> {
  const opened = await plane.openStream(own);
  opened.hello(instance);
  await opened.next('welcome');
  return opened;
}
const streams = () => plane.picture.get(identity.sensorId)?.stream;

beforeAll(async () => {
  keys = await makeKeys(2);
});
beforeEach(async () => {
  plane = await startSensorPlane();
  identity = await plane.enroll('node', key(0));
});
afterEach(() => plane.stop());
afterAll(removeSharedKeys);

describe('a stream', () => {
  it('greets, acknowledges after the durable write, and tells the actor', async () => {
    const opened = await plane.openStream(identity, { 'x-service-instance': ONE });
    opened.hello(ONE);
    expect(await opened.next('welcome')).toMatchObject({
      acknowledged: 0,
      settings: { heartbeat_interval_seconds: 15 },
    });
    expect([streams(), plane.plane.streams.count()]).toEqual(['open', 1]);
    opened.send(batch(1, [1, 2]));
    expect(await opened.next('ack')).toEqual({ type: 'ack', sequence: 1 });
    expect(plane.stores.held.batches[0]).toMatchObject({ channel: 'stream', sequence: 1 });
    opened.send(batch(1, [1, 2]));
    expect(await opened.next('ack')).toEqual({ type: 'ack', sequence: 1 });
    expect(plane.stores.held.batches).toHaveLength(1);
    expect(plane.plane.streams.send(identity.sensorId, { type: 'refresh', what: ['policy'] })).toBe(
      true,
    );
    expect(await opened.next('refresh')).toEqual({ type: 'refresh', what: ['policy'] });
    opened.send({ type: 'goodbye' });
    expect(await opened.closed).toEqual({ code: 1000, reason: 'goodbye' });
    expect([streams(), plane.plane.streams.isOpen(identity.sensorId)]).toEqual(['closed', false]);
    const again = await plane.openStream(identity);
    again.hello(TWO);
    expect(await again.next('welcome')).toMatchObject({ acknowledged: 1 });
  });

  it('refuses a number with other content and says when the store is away', async () => {
    const opened = await stream();
    opened.send(batch(1, [1]));
    await opened.next('ack');
    opened.send(batch(1, [2]));
    expect(await opened.next('refused')).toMatchObject({ sequence: 1, code: 'sequence_conflict' });
    plane.switches.events = false;
    opened.send(batch(2, [3]));
    expect(await opened.next('retry_after')).toEqual({
      type: 'retry_after',
      ms: 1_500,
      sequence: 2,
    });
    plane.switches.events = true;
    opened.send(batch(2, [3]));
    expect(await opened.next('ack')).toEqual({ type: 'ack', sequence: 2 });
  });

  it.each([
    ['text that is no JSON', 'nonsense', 'malformed_body'],
    ['a frame that is too deep', '['.repeat(100), 'malformed_body'],
    ['a frame of no known type', '{"type":"dance"}', 'schema_violation'],
    ['a frame that does not fit', '{"type":"events","sequence":0,"events":[]}', 'schema_violation'],
    ['bytes', Buffer.from([1, 2]), 'malformed_body'],
    ['a second hello', null, 'malformed_request'],
  ])('ends with 1008 and the code on %s', async (_, frame, reason) => {
    const opened = await stream();
    if (frame === null) opened.hello(ONE);
    else opened.socket.send(frame);
    expect(await opened.closed).toEqual({ code: 1008, reason });
  });

  it('ends when nothing is said, when data comes first, and on a frame that is too large', async () => {
    const silent = await plane.openStream(identity);
    expect(await silent.closed).toEqual({ code: 1008, reason: 'timed_out' });
    const early = await plane.openStream(identity);
    early.send(batch(1, [1]));
    expect(await early.closed).toEqual({ code: 1008, reason: 'malformed_request' });
    const other = await plane.openStream(identity, { 'x-service-instance': TWO });
    other.hello(ONE);
    expect(await other.closed).toEqual({ code: 1008, reason: 'malformed_request' });
    const large = await stream();
    large.socket.send(`"${'x'.repeat(1_048_577)}"`);
    expect((await large.closed).code).not.toBe(1000);
    expect(plane.stores.held.batches).toHaveLength(0);
  });

  it('is refused without the subprotocol', async () => {
    const { WebSocket } = await import('ws');
    const { cert, key: pem } = identity;
    const bare = new WebSocket(`wss://127.0.0.1:${plane.port}/sensors/stream`, {
      ca: plane.ca,
      cert,
      key: pem,
    });
    const status = await new Promise((resolve) => {
      bare.on('error', () => undefined);
      bare.on('unexpected-response', (request, res) => {
        resolve(res.statusCode);
        request.destroy();
      });
    });
    expect(status).toBe(400);
  });

  it('ends when two pings go unanswered, and lives while they are answered', async () => {
    const opened = await stream();
    const silent = await stream(TWO, await plane.enroll('other', key(1)));
    silent.stopAnswering();
    expect(await silent.closed).toEqual({ code: 1013, reason: 'pong_missed' });
    expect(opened.socket.readyState).toBe(1);
  });

  it('ends with 1012 when the Console stops, and no new one begins', async () => {
    const opened = await stream();
    plane.plane.streams.shutDown();
    expect(await opened.closed).toEqual({ code: 1012, reason: 'shutting_down' });
    await expect(plane.openStream(identity)).rejects.toThrow('status 503');
  });
});

describe('an identity that ends while the stream is open', () => {
  it('ends the stream at its next frame or ping, with the code', async () => {
    const opened = await stream();
    plane.travel(720 * HOUR_MS);
    opened.send(batch(1, [1]));
    expect(await opened.closed).toEqual({ code: 1008, reason: 'certificate_expired' });
    expect(plane.stores.held.batches).toHaveLength(0);
  });

  it('ends the stream of a superseded certificate when its overlap is over', async () => {
    const opened = await stream();
    const renewed = await plane.ask(identity, '/sensors/renew', {
      csr_pem: makeCsr(key(1), 'node'),
    });
    const cert = String(renewed.body['control_plane_certificate_pem']);
    const pem = key(1).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const next = { ...identity, cert, key: pem };
    expect((await plane.ask(next, '/sensors/heartbeat', heartbeatBody(0, []))).status).toBe(200);
    plane.travel(24 * HOUR_MS);
    expect(await opened.closed).toEqual({ code: 1008, reason: 'certificate_superseded' });
  });
});

describe('two streams of one identity', () => {
  it('are one sensor that came back when the instance is the same', async () => {
    const first = await stream();
    const second = await stream();
    expect(await first.closed).toEqual({ code: 1000, reason: 'replaced' });
    second.send(batch(1, [1]));
    await second.next('ack');
    expect([plane.plane.streams.count(), streams()]).toEqual([1, 'open']);
  });

  it('are a cloned node when the first still answers', async () => {
    const first = await stream();
    const clone = await plane.openStream(identity);
    clone.hello(TWO);
    expect(await clone.closed).toEqual({ code: 1008, reason: 'identity_conflict' });
    first.send(batch(1, [1]));
    await first.next('ack');
    expect(plane.stores.held.audit.at(-1)).toMatchObject({ result: 'identity_conflict' });
  });

  it('are a restarted node when the first says nothing', async () => {
    const first = await stream();
    first.stopAnswering();
    const second = await plane.openStream(identity);
    second.hello(TWO);
    await second.next('welcome');
    expect(await first.closed).toEqual({ code: 1000, reason: 'replaced' });
    expect(plane.plane.streams.count()).toBe(1);
  });

  it('are handed over at once when the first is gone', async () => {
    const first = await stream();
    first.stopAnswering();
    const second = await plane.openStream(identity);
    second.hello(TWO);
    const atMs = performance.now();
    first.socket.terminate();
    await second.next('welcome');
    expect(performance.now() - atMs).toBeLessThan(plane.intervals.STREAM_IDENTITY_CHECK_MS / 2);
    expect([plane.plane.streams.count(), streams()]).toEqual([1, 'open']);
  });

  it('never pile up', async () => {
    const opened = await Promise.all(Array.from({ length: 8 }, () => plane.openStream(identity)));
    const ended = await Promise.all(opened.map((one) => one.closed));
    expect(ended.filter((one) => one.reason === 'too_many_streams')).toHaveLength(4);
  });
});

describe('a slow reader', () => {
  it('is closed when what waits for it passes the bound, and nothing is dropped in silence', async () => {
    const opened = await stream();
    const raw = (opened.socket as unknown as { _socket: { pause(): void } })._socket;
    raw.pause();
    const frame = { type: 'refused', sequence: 1, code: 'x', detail: 'y'.repeat(1_000) } as const;
    let sent = 0;
    while (sent < 20_000 && plane.plane.streams.send(identity.sensorId, frame)) sent += 1;
    expect(sent).toBeLessThan(20_000);
    await expect.poll(() => plane.plane.streams.isOpen(identity.sensorId)).toBe(false);
    opened.socket.terminate();
  });
});
