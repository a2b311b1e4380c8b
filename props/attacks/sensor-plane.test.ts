// The plane a Sensor speaks to, without malice: numbers of batches, heartbeats, inventories, answers by method and path.
// Attacks on it are in the files beside this one. invariant: I1, I9; decision: D6
import { X509Certificate } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import {
  codeOf,
  enrollBody,
  eventOf,
  eventsBody,
  heartbeatBody,
  type Identity,
  type KeyPair,
  makeKeys,
  nth,
  PATIENT,
  STREAM_ID,
} from './peer.ts';

let console: ConsoleUnderTest;
let keys: readonly KeyPair[];
let identity: Identity;
let nodes = 0;
const events = (body: unknown, more = {}) => console.ask(identity, '/sensors/events', body, more);
const heartbeat = (body: unknown) => console.ask(identity, '/sensors/heartbeat', body);
const stored = () => console.batchesOf(identity.sensorId);
const sectionOf = (section: 'connections' | 'processes') =>
  console.stores.relational.inventory.get(identity.sensorId, section);

beforeAll(async () => {
  [console, keys] = await Promise.all([startConsole(), makeKeys(1)]);
});
beforeEach(async () => {
  nodes += 1;
  identity = await console.enroll(`node-${nodes}`);
});
afterAll(async () => {
  await console.stop();
  await removeSharedKeys();
});

describe('an enrollment', () => {
  it('should answer what the specification names', async () => {
    const body = enrollBody(await console.newToken(), 'fields', nth(keys, 0));
    const answer = await console.ask(null, '/sensors/enroll', body);
    expect(Object.keys(answer.body).sort()).toEqual([
      'certificate_expires_at',
      'certificate_reference',
      'control_plane_ca_certificate_pem',
      'control_plane_certificate_pem',
      'heartbeat_interval_seconds',
      'policy_signing_public_key_pem',
      'sensor_id',
      'stream_path',
      'trust_state',
    ]);
    const pem = String(answer.body['control_plane_certificate_pem']);
    expect(new X509Certificate(pem).subject).toContain('CN=fields');
  });
});

describe('a batch of events', () => {
  it('is stored once however often it is sent, and acknowledged by its own number', async () => {
    const first = await events(eventsBody(5, [1, 2]));
    expect([first.status, first.body]).toEqual([202, { acknowledged_sequence: 5 }]);
    expect((await events(eventsBody(5, [1, 2]))).body).toEqual({ acknowledged_sequence: 5 });
    expect((await events(eventsBody(2, [3]))).body).toEqual({ acknowledged_sequence: 2 });
    expect(stored().map((one) => one.sequence)).toEqual([5, 2]);
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
    const row = await console.stores.relational.sensors.getSensor(identity.sensorId);
    expect(row?.bootId).toBe('boot');
  });

  it('tells of a flavor and a role that the node was given since it enrolled', async () => {
    const now = () => console.stores.relational.sensors.getSensor(identity.sensorId);
    const sensor = { version: '0.1.0', flavor: 'telecom', declared_role: 'amf', capabilities: [] };
    await heartbeat({ ...heartbeatBody(0, []), sensor });
    const changed = { flavor: 'telecom', flavorMismatch: true, declaredRole: 'amf' };
    expect(await now()).toMatchObject(changed);
    await heartbeat(heartbeatBody(0, []));
    const before = { flavor: 'standard', flavorMismatch: false, declaredRole: null };
    expect(await now()).toMatchObject(before);
  });

  it('writes connections only when they changed', async () => {
    const one = { protocol: 'tcp', local_ip: '::1', local_port: 1, remote_ip: '::1' };
    const two = { ...one, remote_port: 2, state: 'open' };
    const send = (connections: unknown[]) => heartbeat({ ...heartbeatBody(0, []), connections });
    const other = { ...two, local_port: 3 };
    await send([two, other]);
    await expect.poll(async () => (await sectionOf('connections'))?.items, PATIENT).toHaveLength(2);
    const before = await sectionOf('connections');
    console.travel(1_000);
    await send([other, two]);
    expect(await sectionOf('connections')).toEqual(before);
    await send([]);
    await expect.poll(async () => (await sectionOf('connections'))?.items, PATIENT).toHaveLength(0);
  });

  it('names the lists it stored by their hash, and takes an absent one for unchanged', async () => {
    const { connections: _, listening_services: __, ...bare } = heartbeatBody(0, []);
    const one = { protocol: 'tcp', ip: '::', port: 1 };
    const hashes = { connections: 'a'.repeat(64), listening_services: 'b'.repeat(64) };
    const whole = { ...bare, listening_services: [one], section_hashes: hashes };
    const named = { listening_services: hashes.listening_services };
    const ask = async (body: unknown) => (await heartbeat(body)).body['stored_sections'];
    await expect.poll(() => ask(whole), PATIENT).toEqual(named);
    expect(await ask({ ...bare, section_hashes: hashes })).toEqual(named);
    const items = await console.stores.relational.inventory.get(
      identity.sensorId,
      'listening_services',
    );
    expect(items?.items).toEqual([one]);
  });

  it('tells what each policy did, and would have done had it not only monitored', async () => {
    const body = heartbeatBody(0, []);
    const counts = { state: 'monitoring', acted: 0, would_have_acted: 3, reason: 'unsigned' };
    const policy = { name: 'keep-out', ...counts };
    const loaded = [policy, { name: 'plain', state: 'enforcing', unknown: 1 }];
    await heartbeat({ ...body, engine: { ...body.engine, loaded_policies: loaded } });
    const row = await console.stores.relational.sensors.getSensor(identity.sensorId);
    expect(JSON.parse(JSON.stringify(row?.facts?.engine))).toMatchObject({
      loaded_policies: [policy, { name: 'plain', state: 'enforcing' }],
    });
    expect(JSON.stringify(row?.facts)).not.toContain('unknown');
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
    console.ask(identity, '/sensors/inventory', {
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
    expect((await sectionOf('processes'))?.items).toEqual([{ pid: 2 }, { pid: 3 }]);
    const unknown = { ...delta, base_hash: hash(7), hash: hash(8) };
    expect((await send(unknown)).body).toMatchObject({ need_full: ['processes'] });
    const absent = { base_hash: hash(2), hash: hash(3), added: [], removed: [{ pid: 99 }] };
    expect((await send(absent)).body).toMatchObject({ need_full: ['processes'] });
  });
});

describe('a path of the sensor plane', () => {
  it('is answered by method and path too', async () => {
    const wrong = await console.ask(identity, '/sensors/heartbeat', null, { method: 'GET' });
    expect([...codeOf(wrong), wrong.headers['allow']]).toEqual([405, 'method_not_allowed', 'POST']);
    const stream = await console.ask(identity, '/sensors/stream', {});
    expect([...codeOf(stream), stream.headers['allow']]).toEqual([
      405,
      'method_not_allowed',
      'GET',
    ]);
    expect(codeOf(await console.ask(identity, '/sensors/other'))).toEqual([404, 'not_found']);
    const plain = await console.ask(identity, '/sensors/stream', null, { method: 'GET' });
    expect(codeOf(plain)).toEqual([400, 'malformed_request']);
  });
});
