// Every fault of the simulated database, and what is left of it: in virtual time, with the product's own fact writer on
// top.
import { describe, expect, it } from 'vitest';
import {
  DATABASE_CONNECT_TIMEOUT_MS,
  DATABASE_CONNECTIONS_MAX,
  DATABASE_TIMEOUT_MS,
} from '../../../machines/limits.ts';
import { StoreUnavailable } from '../../../storage/ports/plumbing/store-unavailable.ts';
import { certificate, enrollment, hex, NOW_MS, TOLD } from '../../contracts/samples.ts';
import { type BareConsole, bench, follow, LONG_MS } from './stores.fixture.ts';
import { EVERYBODY } from './stores-faults.ts';

const ANSWER_MS = DATABASE_TIMEOUT_MS + DATABASE_CONNECT_TIMEOUT_MS;

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

async function enrolled(on: BareConsole) {
  const input = enrollment();
  await on.sensors.createToken(tokenInput(input.tokenHash));
  await on.sensors.enroll(input);
  return input;
}

function watching(on: BareConsole) {
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
    const report = {
      sensorId,
      system,
      bootId,
      sensorVersion,
      ...TOLD,
      facts,
      receivedAtMs: NOW_MS,
    };
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
