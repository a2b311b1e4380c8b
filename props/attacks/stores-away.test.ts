// What a Console does while a store is away. The stores are the reference
// fakes behind the real listener; the same outages with real databases are in props/journeys/stores-away.services.test.ts
// and props/contracts/embedded-faults.services.test.ts. invariant: I1, I2, I10; decision: D6, D25
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SENSOR_LANE_WAITING_MAX } from '../../machines/limits.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import {
  codeOf,
  enrollBody,
  eventOf,
  eventsBody,
  heartbeatBody,
  type Identity,
  type KeyPair,
  makeCsr,
  makeKeys,
  nth,
  PATIENT,
} from './peer.ts';

let console: ConsoleUnderTest;
let keys: readonly KeyPair[];
let identity: Identity;
let nodes = 0;
const events = (body: unknown) => console.ask(identity, '/sensors/events', body);
const beat = (body: unknown) => console.ask(identity, '/sensors/heartbeat', body);
const rowOf = () => console.stores.relational.sensors.getSensor(identity.sensorId);
const database = (away: boolean) => console.stores.relational.setAway(away);
const retryAfterOf = (answer: { headers: Record<string, unknown> }) =>
  Number(answer.headers['retry-after']);

beforeAll(async () => {
  [console, keys] = await Promise.all([startConsole(), makeKeys(2)]);
});
beforeEach(async () => {
  nodes += 1;
  identity = await console.enroll(`node-${nodes}`);
});
afterAll(async () => {
  await console.stop();
  await removeSharedKeys();
});

describe('attack 20: the database is away', () => {
  it('should answer every route of a sensor 503 with Retry-After, and lose nothing by it', async () => {
    const token = await console.newToken();
    const before = await rowOf();
    await database(true);
    const sections = { processes: { hash: 'a'.repeat(64), items: [] } };
    const asked: readonly (readonly [string, unknown])[] = [
      ['heartbeat', heartbeatBody(1, [1])],
      ['inventory', { is_full_snapshot: false, sections }],
      ['renew', { csr_pem: makeCsr(nth(keys, 1), `node-${nodes}`) }],
    ];
    for (const [path, body] of asked) {
      const answer = await console.ask(identity, `/sensors/${path}`, body);
      expect([path, ...codeOf(answer)]).toEqual([path, 503, 'store_unavailable']);
      expect(retryAfterOf(answer)).toBeGreaterThan(0);
    }
    const enroll = () =>
      console.ask(null, '/sensors/enroll', enrollBody(token, 'patient', nth(keys, 0)));
    expect(codeOf(await enroll())).toEqual([503, 'store_unavailable']);
    await database(false);
    expect(await rowOf()).toEqual(before);
    for (const [path, body] of asked) {
      expect((await console.ask(identity, `/sensors/${path}`, body)).status).toBe(200);
    }
    expect((await enroll()).status).toBe(201);
  });

  it('should answer operators 503, keep saying it is alive and say which store is gone', async () => {
    const { secret } = await console.newKey(['admin']);
    const headers = { authorization: `Bearer ${secret}` };
    const get = (path: string) => console.ask(null, path, null, { method: 'GET', headers });
    await database(true);
    const list = await get('/api/v2/sensors');
    expect(codeOf(list)).toEqual([503, 'store_unavailable']);
    expect(retryAfterOf(list)).toBeGreaterThan(0);
    expect(JSON.stringify(list.body)).not.toContain('node_modules');
    expect((await get('/livez')).status).toBe(200);
    expect((await get('/readyz')).status).toBe(503);
    await database(false);
    expect((await get('/api/v2/sensors')).status).toBe(200);
    await expect.poll(async () => (await get('/readyz')).status, PATIENT).toBe(200);
  });

  it('should take heartbeats from a crowd of waiting sensors when it is back', async () => {
    await database(true);
    const away = await Promise.all(Array.from({ length: 100 }, () => beat(heartbeatBody(0, []))));
    expect(new Set(away.map((one) => one.status))).toEqual(new Set([503]));
    await database(false);
    const back = await Promise.all(Array.from({ length: 100 }, () => beat(heartbeatBody(0, []))));
    expect(new Set(back.map((one) => one.status))).toEqual(new Set([200]));
  });
});

describe('attack 20: the event store is away', () => {
  it('should still take the facts of a heartbeat, and acknowledge no more than is stored', async () => {
    await beat(heartbeatBody(1, [1]));
    await console.stores.events.setMode('fail');
    const away = await beat({ ...heartbeatBody(2, [2]), boot_id: 'later' });
    expect(away.status).toBe(200);
    expect(away.body).toMatchObject({
      acknowledged_sequence: 1,
      retry_after_ms: console.stores.retryMs,
    });
    expect((await rowOf())?.bootId).toBe('later');
    await console.stores.events.setMode('work');
    expect((await beat(heartbeatBody(2, [2]))).body['acknowledged_sequence']).toBe(2);
  });

  it('should refuse batches and frames with the time to wait, and take them later', async () => {
    const stream = await console.openStream(identity);
    stream.hello('1'.repeat(32));
    await stream.next('welcome');
    await console.stores.events.setMode('fail');
    const away = await events(eventsBody(1, [1]));
    expect(codeOf(away)).toEqual([503, 'store_unavailable']);
    expect(retryAfterOf(away)).toBe(Math.ceil(console.stores.retryMs / 1_000));
    const frame = { type: 'events', sequence: 1, events: [eventOf(2)] };
    stream.send(frame);
    const later = { type: 'retry_after', ms: console.stores.retryMs, sequence: 1 };
    expect(await stream.next('retry_after')).toEqual(later);
    await console.stores.events.setMode('work');
    expect((await events(eventsBody(1, [1]))).status).toBe(202);
    stream.send(frame);
    expect(await stream.next('ack')).toEqual({ type: 'ack', sequence: 1 });
    stream.send({ type: 'goodbye' });
    await stream.closed;
  });

  it('should keep a bounded number of batches of one sensor waiting while it stalls', async () => {
    await console.stores.events.setMode('stall');
    const total = SENSOR_LANE_WAITING_MAX + 28;
    let refused = 0;
    const all = Array.from({ length: total }, async (_, n) => {
      const answer = await events(eventsBody(n + 1, [n]));
      if (answer.status === 503) refused += 1;
      return answer.status;
    });
    // One is on its way to the store, the lane holds the next, the rest is refused at once.
    await expect.poll(() => refused, PATIENT).toBe(total - SENSOR_LANE_WAITING_MAX - 1);
    await console.stores.events.setMode('work');
    const statuses = await Promise.all(all);
    expect(statuses.filter((one) => one === 202)).toHaveLength(SENSOR_LANE_WAITING_MAX + 1);
    expect(console.batchesOf(identity.sensorId)).toHaveLength(SENSOR_LANE_WAITING_MAX + 1);
  });
});
