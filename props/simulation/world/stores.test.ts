// Every fault of the simulated stores, and what is left of it: in virtual time, with the product's own sink and fact
// writer on top.
import { describe, expect, it } from 'vitest';
import {
  DATABASE_CONNECT_TIMEOUT_MS,
  DATABASE_CONNECTIONS_MAX,
  DATABASE_TIMEOUT_MS,
  SINK_INSERT_TIMEOUT_MS,
  STORE_PROBE_INTERVAL_MS,
} from '../../../machines/limits.ts';
import { StoreUnavailable } from '../../../storage/ports/relational.ts';
import { batch, certificate, enrollment, event, hex, NOW_MS } from '../../contracts/samples.ts';
import { createHostClock } from './clocks.ts';
import { beginLife, type Life } from './life.ts';
import type { Observation } from './observation.ts';
import { createSimulatedStores, type SimulatedStores } from './stores.ts';
import { EVERYBODY } from './stores-faults.ts';
import { createWorld, type World } from './world.ts';

const ANSWER_MS = DATABASE_TIMEOUT_MS + DATABASE_CONNECT_TIMEOUT_MS;
const LONG_MS = 60_000;

type Bench = {
  readonly world: World;
  readonly stores: SimulatedStores;
  readonly seen: Observation[];
  begin(host: string): ReturnType<typeof consoleOn>;
  pass(ms: number): Promise<void>;
};

function bench(seed = 'stores'): Bench {
  const world = createWorld(seed);
  const stores = createSimulatedStores(world, { keyOfEvent: (one) => one.event_id });
  const seen: Observation[] = [];
  world.subscribe((observation) => seen.push(observation));
  let lives = 0;
  return {
    world,
    stores,
    seen,
    begin(host) {
      lives += 1;
      return consoleOn(stores, beginLife(world.scheduler, { host, incarnation: lives }), world);
    },
    pass: (ms) => world.scheduler.runUntil(world.scheduler.now() + ms),
  };
}

function consoleOn(stores: SimulatedStores, life: Life, world: World) {
  const clock = createHostClock(world.scheduler);
  const relational = stores.relationalFor(life, clock);
  return { life, ...relational, ...stores.analyticsFor(life, clock), relational };
}

/** What has become of a promise by now, and when. */
function follow<T>(world: World, promise: Promise<T>) {
  const outcome: { state: 'waiting' | 'ok' | 'failed'; value: unknown; atMs: number } = {
    state: 'waiting',
    value: null,
    atMs: -1,
  };
  const end = (state: 'ok' | 'failed') => (value: unknown) => {
    Object.assign(outcome, { state, value, atMs: world.scheduler.now() });
  };
  promise.then(end('ok'), end('failed'));
  return outcome;
}

function tokenInput(hash: Buffer) {
  return {
    tokenId: hex(8),
    hash,
    kind: 'enroll' as const,
    sensorId: null,
    note: '',
    nowMs: NOW_MS,
    expiresAtMs: NOW_MS + LONG_MS,
    actor: 'test',
  };
}

async function enrolled(on: ReturnType<typeof consoleOn>) {
  const input = enrollment();
  await on.sensors.createToken(tokenInput(input.tokenHash));
  await on.sensors.enroll(input);
  return input;
}

function watching(on: ReturnType<typeof consoleOn>) {
  const told: string[] = [];
  const watch = on.sensors.watchIdentities({
    onChange: (sensorId) => told.push(sensorId),
    onLost: () => told.push('lost'),
    onRestored: () => told.push('restored'),
  });
  return { told, watch };
}

describe('the simulated database', () => {
  it('should outlive its Consoles and tell every commit that changes who is trusted', async () => {
    const { begin, seen } = bench();
    const first = begin('console-1');
    const { sensor, certificate: own } = await enrolled(first);
    first.life.end();
    const second = begin('console-1');
    const next = certificate();
    const by = { byFingerprint: own.fingerprint, nowMs: NOW_MS };
    await second.sensors.addPendingCertificate({ ...by, certificate: next });
    const { fingerprint } = next;
    for (const nowMs of [NOW_MS + 1, NOW_MS + 2]) {
      await second.sensors.activateCertificate({ fingerprint, nowMs });
      await second.sensors.revoke({ sensorId: sensor.sensorId, nowMs, reason: '', actor: 'test' });
    }
    const unused = tokenInput(Buffer.from('unused'));
    await second.sensors.createToken(unused);
    for (const nowMs of [1, 2]) {
      await second.sensors.revokeToken({ tokenId: unused.tokenId, nowMs, actor: 'test' });
    }
    expect(seen.map((one) => one.kind)).toEqual([
      'token.created',
      'sensor.enrolled',
      'certificate.issued',
      'certificate.activated',
      'sensor.revoked',
      'token.created',
      'token.revoked',
    ]);
    expect(seen[3]).toMatchObject({ previous: own.fingerprint, supersededAtMs: NOW_MS + 1 });
  });

  it('should refuse only the Consoles that cannot reach it', async () => {
    const { begin, stores } = bench();
    const [near, far] = [begin('console-1'), begin('console-2')];
    stores.relational.faults.away.add('console-2');
    expect(await near.sensors.loadSensors()).toEqual([]);
    expect(await near.health.ping()).toBe(true);
    await expect(far.sensors.loadSensors()).rejects.toThrow(StoreUnavailable);
    expect(await far.health.ping()).toBe(false);
    stores.heal();
    expect(await far.health.ping()).toBe(true);
  });

  it('should keep what was committed before the answer was lost', async () => {
    const { begin, stores } = bench();
    const { sensors } = begin('console-1');
    const input = tokenInput(Buffer.from('lost'));
    stores.relational.faults.failAfter = 1;
    await expect(sensors.createToken(input)).rejects.toThrow(StoreUnavailable);
    stores.heal();
    expect(await sensors.findToken(input.hash)).not.toBeNull();
    stores.relational.faults.failBefore = 1;
    const never = tokenInput(Buffer.from('never'));
    await expect(sensors.createToken(never)).rejects.toThrow(StoreUnavailable);
    stores.heal();
    expect(await sensors.findToken(never.hash)).toBeNull();
  });

  it('should end calls that never get an answer with the time-outs of the product', async () => {
    const { begin, stores, world, pass } = bench();
    const { sensors } = begin('console-1');
    stores.relational.faults.silentAfter = 1;
    const input = tokenInput(Buffer.from('silent'));
    const lost = follow(world, sensors.createToken(input));
    await pass(LONG_MS);
    expect(lost).toMatchObject({ state: 'failed', atMs: ANSWER_MS });
    stores.heal();
    expect(await sensors.findToken(input.hash)).not.toBeNull();
  });

  it('should answer after a short stall, and lend its connections only once', async () => {
    const { begin, stores, world, pass } = bench();
    const { sensors } = begin('console-1');
    stores.relational.faults.stall.add(EVERYBODY);
    const calls = Array.from({ length: DATABASE_CONNECTIONS_MAX + 1 }, () =>
      follow(world, sensors.loadSensors()),
    );
    await pass(DATABASE_CONNECT_TIMEOUT_MS);
    expect(calls.map((one) => one.state)).toEqual([
      ...Array.from({ length: DATABASE_CONNECTIONS_MAX }, () => 'waiting'),
      'failed',
    ]);
    stores.heal();
    await pass(100);
    expect(calls.filter((one) => one.state === 'ok')).toHaveLength(DATABASE_CONNECTIONS_MAX);
  });

  it.each([0, 1])('should do late what nobody waits for with probability %i', async (chance) => {
    const { begin, stores, world, pass } = bench();
    const { sensors } = begin('console-1');
    const { faults } = stores.relational;
    faults.stall.add(EVERYBODY);
    faults.lateWrite = chance;
    const input = tokenInput(Buffer.from('late'));
    const lost = follow(world, sensors.createToken(input));
    await pass(ANSWER_MS);
    expect(lost.state).toBe('failed');
    stores.heal();
    faults.lateWrite = chance;
    await pass(100);
    expect((await sensors.findToken(input.hash)) !== null).toBe(chance === 1);
  });

  it('should queue calls of a slow database and never answer a process that is gone', async () => {
    const { begin, stores, world, pass } = bench();
    const [one, gone] = [begin('console-1'), begin('console-2')];
    stores.relational.faults.latencyMs = { least: 100, most: 100 };
    const calls = Array.from({ length: 2 * DATABASE_CONNECTIONS_MAX }, () =>
      follow(world, one.sensors.loadSensors()),
    );
    const unheard = follow(world, gone.sensors.loadSensors());
    gone.life.end();
    await pass(LONG_MS);
    expect(new Set(calls.map(({ atMs }) => atMs))).toEqual(new Set([100, 200]));
    expect(unheard.state).toBe('waiting');
  });

  it('should refuse heartbeat facts while it is away and take them again', async () => {
    const { begin, stores, world, pass } = bench();
    const own = begin('console-1');
    const { sensor } = await enrolled(own);
    const { sensorId, system, bootId, sensorVersion } = sensor;
    const facts = {
      engine: null,
      trust: null,
      resources: null,
      pipeline: null,
      capabilities: [],
    };
    const report = { sensorId, system, bootId, sensorVersion, facts, receivedAtMs: NOW_MS };
    stores.relational.faults.away.add(EVERYBODY);
    const refused = follow(world, own.facts.write(report));
    await pass(1_000);
    stores.heal();
    const taken = follow(world, own.facts.write(report));
    await pass(1_000);
    expect([refused.value, taken.value]).toEqual([false, true]);
    const stored = stores.relational.state.sensors.get(sensorId);
    expect(stored?.lastHeartbeatAtMs).toBe(NOW_MS);
  });

  it('should lose the notifications of one cut connection alone, and say when they flow', async () => {
    const { begin, stores, pass } = bench();
    const [cut, whole] = [begin('console-1'), begin('console-2')];
    const [first, second] = [watching(cut), watching(whole)];
    await first.watch;
    stores.relational.faults.notificationsCut.set('console-1', 'silent');
    const { sensor } = await enrolled(whole);
    await pass(10_000);
    expect(first.told).toEqual(['lost']);
    expect(second.told).toEqual([sensor.sensorId]);
    stores.heal();
    await pass(10_000);
    expect(first.told).toEqual(['lost', 'restored']);
    expect(await cut.health.ping()).toBe(true);
  });

  it('should not lose a notification in a short cut without a word', async () => {
    const { begin, stores, pass } = bench();
    const own = begin('console-1');
    const { told, watch } = watching(own);
    await watch;
    stores.relational.faults.notificationsCut.set(EVERYBODY, 'closed');
    await enrolled(own);
    stores.heal();
    await pass(10_000);
    expect(told).toEqual(['lost', 'restored']);
  });

  it('should delay notifications and drop those of a life that ended', async () => {
    const { begin, stores, world, pass } = bench();
    const [gone, slow] = [begin('console-1'), begin('console-2')];
    const [first, second] = [watching(gone), watching(slow)];
    stores.relational.faults.notificationMs = { least: 500, most: 500 };
    const { sensor } = await enrolled(slow);
    gone.life.end();
    await pass(499);
    expect(second.told).toEqual([]);
    await pass(1);
    expect(second.told).toEqual([sensor.sensorId]);
    expect(first.told).toEqual([]);
    expect(world.crashes()).toEqual([]);
  });
});

describe('the simulated event store', () => {
  it('should tell every durable batch with the keys of its events', async () => {
    const { begin, seen, world, pass } = bench();
    const { sink } = begin('console-1');
    const one = batch();
    const answer = follow(world, sink.append(one));
    await pass(1_000);
    expect(answer.value).toEqual({ ok: true });
    expect(seen).toEqual([
      {
        kind: 'events.stored',
        console: 'console-1',
        batches: [
          {
            sensor: one.sensorId,
            stream: one.streamId,
            channel: one.channel,
            sequence: one.sequence,
            events: one.events.map((each) => each.event_id),
            receivedAtMs: one.receivedAtMs,
          },
        ],
      },
    ]);
  });

  it('should store once what the sink repeats under one token', async () => {
    const { begin, stores, world, pass } = bench();
    const { sink } = begin('console-1');
    stores.analytics.faults.silentAfter = 1;
    const answer = follow(world, sink.append(batch()));
    await pass(2 * SINK_INSERT_TIMEOUT_MS);
    stores.heal();
    await pass(2 * SINK_INSERT_TIMEOUT_MS);
    expect(answer.value).toEqual({ ok: true });
    expect(stores.analytics.rows.batches()).toHaveLength(1);
  });

  it('should keep both copies of a batch that came again under another token', async () => {
    const { begin, stores, world, pass } = bench();
    const { sink, events } = begin('console-1');
    stores.analytics.faults.failAfter = 1;
    const one = batch();
    const refused = follow(world, sink.append(one));
    await pass(1_000);
    stores.heal();
    await pass(STORE_PROBE_INTERVAL_MS);
    const taken = follow(world, sink.append(one));
    await pass(1_000);
    expect([refused.value, taken.value]).toMatchObject([{ ok: false }, { ok: true }]);
    expect(stores.analytics.rows.batches()).toHaveLength(2);
    expect(await events.countDistinct({})).toBe(one.events.length);
    expect(await events.storedRanges()).toHaveLength(1);
  });

  it.each([0, 1])('should write a stalled insert late with probability %i', async (chance) => {
    const { begin, stores, world, pass } = bench();
    const { sink, events } = begin('console-1');
    const { faults } = stores.analytics;
    faults.stall.add(EVERYBODY);
    const refused = follow(world, sink.append(batch()));
    await pass(4 * SINK_INSERT_TIMEOUT_MS);
    expect(refused.value).toMatchObject({ ok: false });
    stores.heal();
    faults.lateWrite = chance;
    await pass(100);
    expect(stores.analytics.rows.batches()).toHaveLength(chance);
    await pass(LONG_MS);
    expect(await events.ping()).toBe(true);
  });

  it('should refuse content and take the other batches of the group', async () => {
    const { begin, stores, world, pass } = bench();
    const { sink } = begin('console-1');
    stores.analytics.faults.refusesContent = ({ sequence }) => sequence === 2;
    const answers = [1, 2, 3].map((sequence) =>
      follow(world, sink.append(batch({ sequence, events: [event()] }))),
    );
    await pass(1_000);
    expect(answers.map(({ value }) => value)).toMatchObject([
      { ok: true },
      { ok: false },
      { ok: true },
    ]);
    expect(stores.analytics.rows.batches().map((one) => one.sequence)).toEqual([1, 3]);
  });

  it('should refuse at once while it is away, questions too, and come back', async () => {
    const { begin, stores, world, pass } = bench();
    const { sink, events } = begin('console-1');
    stores.analytics.faults.away.add('console-1');
    const first = follow(world, sink.append(batch()));
    await pass(1_000);
    expect(first.value).toMatchObject({ ok: false });
    expect(await sink.append(batch())).toMatchObject({ ok: false });
    await expect(events.storedRanges()).rejects.toThrow('cannot answer');
    stores.heal();
    await pass(STORE_PROBE_INTERVAL_MS);
    const next = follow(world, sink.append(batch()));
    await pass(1_000);
    expect(next.value).toEqual({ ok: true });
  });
});

it('should give the same world twice from one seed', async () => {
  async function run(seed: string): Promise<readonly [string, number]> {
    const { begin, stores, world, pass } = bench(seed);
    const { sink } = begin('console-1');
    stores.analytics.faults.latencyMs = { least: 1, most: 2_000 };
    stores.analytics.faults.failAfter = 0.3;
    for (let sequence = 1; sequence <= 50; sequence += 1) {
      const events = [event({ event_id: `event-${sequence}` })];
      const more = { sensorId: 'sensor-1', streamId: 'stream-1', receivedAtMs: 1, sequence };
      void sink.append(batch({ ...more, events }));
      await pass(700);
    }
    return [world.log.hash(), world.scheduler.steps()];
  }
  expect(await run('a')).toEqual(await run('a'));
  expect(await run('a')).not.toEqual(await run('b'));
});
