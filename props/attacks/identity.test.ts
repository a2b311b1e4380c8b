// Attacks on who a request belongs to: bodies, headers and frames that name another sensor. The certificate decides, and
// nothing a peer writes changes what is known of anybody else. invariant: I9
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { eventOf, eventsBody, heartbeatBody, type Identity, STREAM_ID } from './peer.ts';

let console: ConsoleUnderTest;
let attacker: Identity;
let victim: Identity;
let nodes = 0;

beforeAll(async () => {
  console = await startConsole();
});
beforeEach(async () => {
  nodes += 1;
  attacker = await console.enroll(`attacker-${nodes}`);
  victim = await console.enroll(`victim-${nodes}`);
});
afterAll(async () => {
  expect(console.errors).toEqual([]);
  await console.stop();
  await removeSharedKeys();
});

const rowOf = (own: Identity) => console.stores.relational.sensors.getSensor(own.sensorId);
/** Every place where a peer might hope that a name is read. */
const claims = () => ({
  sensor_id: victim.sensorId,
  sensorId: victim.sensorId,
  node_name: `victim-${nodes}`,
  fingerprint: 'f'.repeat(64),
  identity: { sensor_id: victim.sensorId },
});
const headers = () => ({
  'x-sensor-id': victim.sensorId,
  'x-service-sensor': victim.sensorId,
  'x-forwarded-client-cert': victim.cert.replaceAll('\n', ' '),
  'x-ssl-client-cert': encodeURIComponent(victim.cert),
  'x-forwarded-for': '203.0.113.7',
});

describe('attack 19: reports in the name of another sensor', () => {
  it('should be kept under the certificate that brought them, whatever the body says', async () => {
    const before = await rowOf(victim);
    const beat = { ...heartbeatBody(1, [1]), ...claims(), boot_id: 'forged' };
    const answer = await console.ask(attacker, '/sensors/heartbeat', beat, { headers: headers() });
    expect(answer.status).toBe(200);
    expect((await rowOf(attacker))?.bootId).toBe('forged');
    expect(await rowOf(victim)).toEqual(before);
    expect(console.fleet.liveView.get(victim.sensorId)?.last_heartbeat_at_ms ?? null).toBeNull();
    expect(console.batchesOf(victim.sensorId)).toHaveLength(0);
  });

  it('should store events of the sender only, also when each event names another', async () => {
    const events = [{ ...eventOf(1), ...claims() }, eventOf(2)];
    const body = { ...eventsBody(1, []), ...claims(), events };
    const answer = await console.ask(attacker, '/sensors/events', body, { headers: headers() });
    expect(answer.status).toBe(202);
    const stored = await console.stores.events.events.search({
      sensorId: attacker.sensorId,
      limit: 10,
    });
    expect(stored.map((one) => [one.sensor_id, one.node_name])).toEqual([
      [attacker.sensorId, `attacker-${nodes}`],
      [attacker.sensorId, `attacker-${nodes}`],
    ]);
    expect(await console.stores.events.events.countDistinct({ sensorId: victim.sensorId })).toBe(0);
  });

  it('should not touch the numbers of another sensor that has the same stream', async () => {
    const send = (own: Identity, ids: readonly number[]) =>
      console.ask(own, '/sensors/events', eventsBody(1, ids));
    expect((await send(attacker, [1])).body).toEqual({ acknowledged_sequence: 1 });
    expect((await send(victim, [2])).body).toEqual({ acknowledged_sequence: 1 });
    expect(console.batchesOf(victim.sensorId)).toHaveLength(1);
  });

  it('should not open, replace or challenge the stream of another', async () => {
    const mine = await console.openStream(victim);
    mine.hello('1'.repeat(32));
    await mine.next('welcome');
    const forged = await console.openStream(attacker, headers());
    const rest = { boot_id: 'boot', stream_id: STREAM_ID, sensor_version: '0', capabilities: [] };
    forged.send({ type: 'hello', instance_id: '1'.repeat(32), ...rest, ...claims() });
    await forged.next('welcome');
    forged.send({ type: 'events', sequence: 1, events: [eventOf(1)], ...claims() });
    await forged.next('ack');
    expect(console.batchesOf(victim.sensorId)).toHaveLength(0);
    expect(console.streams.isOpen(victim.sensorId)).toBe(true);
    mine.send({ type: 'goodbye' });
    forged.send({ type: 'goodbye' });
    expect((await mine.closed).reason).toBe('goodbye');
    await forged.closed;
  });

  it('should replace inventory and renew certificates of the sender only', async () => {
    const items = [{ pid: 1 }];
    const inventory = { is_full_snapshot: false, ...claims() };
    const sections = { processes: { hash: 'a'.repeat(64), items } };
    const sent = await console.ask(attacker, '/sensors/inventory', { ...inventory, sections });
    expect(sent.body).toMatchObject({ stored: ['processes'] });
    const held = console.stores.relational.inventory;
    expect((await held.get(attacker.sensorId, 'processes'))?.items).toEqual(items);
    expect(await held.get(victim.sensorId, 'processes')).toBeNull();
    const renewed = await console.ask(attacker, '/sensors/renew', { csr_pem: 'x', ...claims() });
    expect(renewed.status).toBe(422);
    expect(console.fleet.identities.identitiesOf(victim.sensorId)).toHaveLength(1);
  });
});
