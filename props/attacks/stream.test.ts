// Attacks on the stream: clones, silence, floods, frames that do not fit, identities that end while it is open.
// invariant: I1, I3, I9, I10; decision: D10
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import {
  eventOf,
  type Identity,
  type KeyPair,
  makeKeys,
  PATIENT,
  type TestStream,
} from './peer.ts';

const HOUR_MS = 3_600_000;
const ONE = '1'.repeat(32);
const TWO = '2'.repeat(32);
let console: ConsoleUnderTest;
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
  const opened = await console.openStream(own);
  opened.hello(instance);
  await opened.next('welcome');
  return opened;
}
const streams = () => console.fleet.liveView.get(identity.sensorId)?.stream;

beforeAll(async () => {
  keys = await makeKeys(2);
});
beforeEach(async () => {
  console = await startConsole({ intervals: { STREAM_OPEN_TIMEOUT_MS: 1_000 } });
  identity = await console.enroll('node', key(0));
});
afterEach(() => console.stop());
afterAll(removeSharedKeys);

describe('a stream', () => {
  it('greets, acknowledges after the durable write, and tells the actor', async () => {
    const opened = await console.openStream(identity, { 'x-service-instance': ONE });
    opened.hello(ONE);
    expect(await opened.next('welcome')).toMatchObject({
      acknowledged: 0,
      settings: { heartbeat_interval_seconds: 15 },
    });
    expect([streams(), console.streams.count()]).toEqual(['open', 1]);
    opened.send(batch(1, [1, 2]));
    expect(await opened.next('ack')).toEqual({ type: 'ack', sequence: 1 });
    expect(console.batches[0]).toMatchObject({ channel: 'stream', sequence: 1 });
    opened.send(batch(1, [1, 2]));
    expect(await opened.next('ack')).toEqual({ type: 'ack', sequence: 1 });
    expect(console.batches).toHaveLength(1);
    expect(console.streams.send(identity.sensorId, { type: 'refresh', what: ['policy'] })).toBe(
      true,
    );
    expect(await opened.next('refresh')).toEqual({ type: 'refresh', what: ['policy'] });
    opened.send({ type: 'goodbye' });
    expect(await opened.closed).toEqual({ code: 1000, reason: 'goodbye' });
    expect([streams(), console.streams.isOpen(identity.sensorId)]).toEqual(['closed', false]);
    const again = await console.openStream(identity);
    again.hello(TWO);
    expect(await again.next('welcome')).toMatchObject({ acknowledged: 1 });
  });

  it('refuses a number with other content and says when the store is away', async () => {
    const opened = await stream();
    opened.send(batch(1, [1]));
    await opened.next('ack');
    opened.send(batch(1, [2]));
    expect(await opened.next('refused')).toMatchObject({ sequence: 1, code: 'sequence_conflict' });
    await console.stores.events.setMode('fail');
    opened.send(batch(2, [3]));
    expect(await opened.next('retry_after')).toEqual({
      type: 'retry_after',
      ms: console.stores.retryMs,
      sequence: 2,
    });
    await console.stores.events.setMode('work');
    // A store that is back is found out when it is asked again; until then the sensor is told to wait.
    const ack = opened.next('ack');
    const isAcked = async () => {
      opened.send(batch(2, [3]));
      return Promise.race([ack, opened.next('retry_after')]);
    };
    await expect.poll(isAcked, PATIENT).toEqual({ type: 'ack', sequence: 2 });
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
    const silent = await console.openStream(identity);
    expect(await silent.closed).toEqual({ code: 1008, reason: 'timed_out' });
    const early = await console.openStream(identity);
    early.send(batch(1, [1]));
    expect(await early.closed).toEqual({ code: 1008, reason: 'malformed_request' });
    const other = await console.openStream(identity, { 'x-service-instance': TWO });
    other.hello(ONE);
    expect(await other.closed).toEqual({ code: 1008, reason: 'malformed_request' });
    const large = await stream();
    large.socket.send(`"${'x'.repeat(1_048_577)}"`);
    expect((await large.closed).code).not.toBe(1000);
    expect(console.batches).toHaveLength(0);
  });

  it('is refused without the subprotocol', async () => {
    const { WebSocket } = await import('ws');
    const { cert, key: pem } = identity;
    const bare = new WebSocket(`wss://127.0.0.1:${console.port}/sensors/stream`, {
      ca: console.ca,
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
    const silent = await stream(TWO, await console.enroll('other', key(1)));
    silent.stopAnswering();
    expect(await silent.closed).toEqual({ code: 1013, reason: 'pong_missed' });
    expect(opened.socket.readyState).toBe(1);
  });

  it('ends with 1012 when the Console stops, and no new one begins', async () => {
    const opened = await stream();
    console.streams.shutDown();
    expect(await opened.closed).toEqual({ code: 1012, reason: 'shutting_down' });
    await expect(console.openStream(identity)).rejects.toThrow('status 503');
  });
});

describe('two streams of one identity', () => {
  it('are one sensor that came back when the instance is the same', async () => {
    const first = await stream();
    const second = await stream();
    expect(await first.closed).toEqual({ code: 1000, reason: 'replaced' });
    second.send(batch(1, [1]));
    await second.next('ack');
    expect([console.streams.count(), streams()]).toEqual([1, 'open']);
  });

  it('are a cloned node when the first still answers', async () => {
    const first = await stream();
    const clone = await console.openStream(identity);
    clone.hello(TWO);
    expect(await clone.closed).toEqual({ code: 1008, reason: 'identity_conflict' });
    first.send(batch(1, [1]));
    await first.next('ack');
    expect((await console.audited())[0]).toMatchObject({ result: 'identity_conflict' });
    await expect
      .poll(() => console.stores.relational.alerts.list({ limit: 1, before: null }))
      .toMatchObject([{ alert: { kind: 'identity_conflict', nodeName: 'node' } }]);
  });

  it('are a restarted node when the first says nothing', async () => {
    const first = await stream();
    first.stopAnswering();
    const second = await console.openStream(identity);
    second.hello(TWO);
    await second.next('welcome');
    expect(await first.closed).toEqual({ code: 1000, reason: 'replaced' });
    expect(console.streams.count()).toBe(1);
  });

  it('are handed over at once when the first is gone', async () => {
    await console.stop();
    // Nobody looks by himself whether the first still answers: the end of its connection is what counts.
    console = await startConsole({ intervals: { STREAM_IDENTITY_CHECK_MS: HOUR_MS } });
    identity = await console.enroll('node', key(0));
    const first = await stream();
    first.stopAnswering();
    const second = await console.openStream(identity);
    second.hello(TWO);
    first.socket.terminate();
    await second.next('welcome');
    expect([console.streams.count(), streams()]).toEqual([1, 'open']);
  });

  it('never pile up', async () => {
    const opened = await Promise.all(Array.from({ length: 8 }, () => console.openStream(identity)));
    const ended = await Promise.all(opened.map((one) => one.closed));
    expect(ended.filter((one) => one.reason === 'too_many_streams')).toHaveLength(4);
  });
});
