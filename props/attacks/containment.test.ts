// Containment as a Console orders and shows it: told at once and again until the node names it, on every replica and after
// a restart; contained by the node's own word alone; nobody orders it for what is revoked or not theirs. decision: D85, D87
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { idAfter } from '../../actors/containment/containment-service.ts';
import type { ContainmentReport } from '../../machines/wire/policy.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import {
  codeOf,
  heartbeatBody,
  type Identity,
  type KeyPair,
  makeKeys,
  nth,
  PATIENT,
} from './peer.ts';
import { openStores, type Stores } from './stores.fixture.ts';

const ONE = '1'.repeat(32);
let keys: readonly KeyPair[];
let running: ConsoleUnderTest[] = [];

beforeAll(async () => {
  keys = await makeKeys(1);
});
afterEach(async () => {
  for (const one of running) await one.stop();
  running = [];
});
afterAll(removeSharedKeys);

async function start(given?: Stores): Promise<ConsoleUnderTest> {
  const one = await startConsole({ stores: given ?? (await openStores()) });
  running.push(one);
  return one;
}

type Said = { readonly containment?: Record<string, unknown>; readonly is_contained?: boolean };

/** A heartbeat that reports, and what its answer says of containment. */
async function beat(
  console: ConsoleUnderTest,
  identity: Identity,
  report?: Partial<ContainmentReport>,
): Promise<Said> {
  const since = new Date(0).toISOString();
  const containment = report === undefined ? {} : { containment: { since, ...report } };
  const body = { ...heartbeatBody(0, []), ...containment };
  const answer = await console.ask(identity, '/sensors/heartbeat', body);
  expect(answer.status).toBe(200);
  return answer.body as Said;
}

async function act(
  console: ConsoleUnderTest,
  { sensorId }: Identity,
  what: 'contain' | 'release',
  more: object = {},
) {
  const { secret } = await console.newKey(['assignments:write']);
  const headers = { authorization: `Bearer ${secret}` };
  const path = `/api/v2/sensors/${sensorId}/${what}`;
  return console.ask(null, path, { reason: 'test', ...more }, { headers });
}

const orderIdOf = (answer: { readonly body: Readonly<Record<string, unknown>> }): string =>
  String((answer.body['order'] as { order_id?: string } | undefined)?.order_id);
const shown = (console: ConsoleUnderTest, { sensorId }: Identity) => {
  const entry = console.fleet.liveView.get(sensorId);
  return [entry?.containment, entry?.is_contained];
};

describe('containment', () => {
  it('should be sent at once on the stream, and in every answer until the node names the order', async () => {
    const console = await start();
    const identity = await console.enroll('node', nth(keys, 0));
    const stream = await console.openStream(identity);
    stream.hello(ONE);
    await stream.next('welcome');
    const placed = await act(console, identity, 'contain', { until: 'now+2h' });
    expect(placed.status).toBe(202);
    const order_id = orderIdOf(placed);
    expect(await stream.next('contain')).toMatchObject({ order_id, reason: 'test' });
    expect(shown(console, identity)).toEqual(['containing', false]);
    for (let n = 0; n < 2; n += 1) {
      const answer = await beat(console, identity, { state: 'released' });
      expect(answer).toMatchObject({
        is_contained: false,
        containment: { order_id, wanted: 'contained', until: expect.any(String) },
      });
    }
    const known = await beat(console, identity, { order_id, state: 'containing' });
    expect(known).not.toHaveProperty('containment');
    const contained = await beat(console, identity, { order_id, state: 'contained' });
    expect([contained.is_contained, ...shown(console, identity)]).toEqual([
      true,
      'contained',
      true,
    ]);

    const released = await act(console, identity, 'release');
    const release = orderIdOf(released);
    expect(await stream.next('release')).toEqual({ type: 'release', order_id: release });
    // It names the old order still, and is contained by its own word.
    const late = await beat(console, identity, { order_id, state: 'contained' });
    expect(late).toMatchObject({
      is_contained: true,
      containment: { order_id: release, wanted: 'released' },
    });
    const failed = { order_id: release, state: 'failed', failure: 'no rights' } as const;
    expect((await beat(console, identity, failed)).is_contained).toBe(true);
    expect(shown(console, identity)).toEqual(['failed', true]);
    const free = await beat(console, identity, { order_id: release, state: 'released' });
    expect([free.is_contained, free.containment]).toEqual([false, undefined]);
  });

  it('should be told that an order is over when an older one holds the node still', async () => {
    const console = await start();
    const identity = await console.enroll('node', nth(keys, 0));
    const first = orderIdOf(await act(console, identity, 'contain'));
    await beat(console, identity, { order_id: first, state: 'containing' });
    const until = new Date(console.time.now() + 60_000).toISOString();
    const order_id = orderIdOf(await act(console, identity, 'contain', { until }));
    console.travel(60_000);
    const late = await beat(console, identity, { order_id: first, state: 'contained' });
    expect(late.containment).toMatchObject({ order_id, wanted: 'contained', until });
    expect(shown(console, identity)).toEqual(['releasing', true]);
    const free = await beat(console, identity, { order_id, state: 'released' });
    expect([free.is_contained, free.containment]).toEqual([false, undefined]);
  });

  it('should be the same on another replica and after a restart', async () => {
    const stores = await openStores();
    const [here, there] = [await start(stores), await start(stores)];
    const identity = await here.enroll('node', nth(keys, 0));
    await expect.poll(() => there.fleet.liveView.get(identity.sensorId), PATIENT).toBeDefined();
    const stream = await there.openStream(identity);
    stream.hello(ONE);
    await stream.next('welcome');
    const order_id = orderIdOf(await act(here, identity, 'contain'));
    expect(await stream.next('contain')).toMatchObject({ order_id });
    expect(shown(there, identity)).toEqual(['containing', false]);
    await beat(there, identity, { order_id, state: 'contained' });
    const release = orderIdOf(await act(here, identity, 'release'));
    expect(release > order_id).toBe(true);
    expect(await stream.next('release')).toMatchObject({ order_id: release });
    await beat(there, identity, { order_id: release, state: 'failed', failure: 'gone' });
    const later = await start(stores);
    expect(shown(later, identity)).toEqual(['failed', true]);
    const seen = later.fleet.sensors.view(identity.sensorId, later.time.now());
    expect(seen?.containment.order?.orderId).toBe(release);
  });

  it('should never be ordered for a sensor that is revoked or unknown, or end in the past', async () => {
    const console = await start();
    const identity = await console.enroll('node', nth(keys, 0));
    for (const until of ['now', 'now-1h', '2001-01-01T00:00:00Z']) {
      const answer = await act(console, identity, 'contain', { until });
      expect(codeOf(answer)).toEqual([422, 'schema_violation']);
    }
    const nobody = { ...identity, sensorId: '00000000-0000-7000-8000-000000000000' };
    expect(codeOf(await act(console, nobody, 'contain'))).toEqual([404, 'not_found']);
    await console.revoke(identity.sensorId);
    for (const what of ['contain', 'release'] as const) {
      expect(codeOf(await act(console, identity, what))).toEqual([409, 'sensor_is_revoked']);
    }
    expect(shown(console, identity)).toEqual(['released', false]);
  });

  it('should rise by its ids, whatever the clock of another Console says', () => {
    const id = '0199ffff-ffff-7fff-bfff-ffffffffffff';
    expect(idAfter('01990000-0000-7000-8000-00000000000f')).toBe(
      '01990000-0000-7000-8000-000000000010',
    );
    expect(idAfter(id) > id).toBe(true);
    expect(idAfter(id)).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });
});
