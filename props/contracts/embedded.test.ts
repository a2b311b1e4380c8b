// Every storage contract on the real embedded stores: one start of both for the whole file, no root needed.

import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Logger } from '../../actors/runtime/logger.ts';
import { DEFAULT_INTERVALS } from '../../machines/limits.ts';
import { type Analytics, createAnalytics } from '../../storage/analytics/analytics.ts';
import { createClickhouseLauncher } from '../../storage/embedded/clickhouse.ts';
import { createPostgresLauncher } from '../../storage/embedded/postgres.ts';
import type {
  ClickhouseEndpoint,
  PostgresEndpoint,
  RunningStore,
} from '../../storage/embedded/store-launcher.ts';
import {
  applyMigrations,
  migrationOf,
  planMigrations,
  readMigrations,
} from '../../storage/migrate.ts';
import type { Timers } from '../../storage/ports/clock.ts';
import { EventStoreUnavailable } from '../../storage/ports/event-store.ts';
import { createRelational, type Relational } from '../../storage/relational/relational.ts';
import { eventStoreContract } from './event-store.contract.ts';
import { batch, enrollment, HOSTILE, hashOf, hex, NOW_MS } from './samples.ts';
import { sensorRegistryContract } from './sensor-registry.contract.ts';

const START_MS = 60_000;
const silent = () => undefined;
const logger: Logger = {
  debug: silent,
  info: silent,
  warn: silent,
  error: silent,
  child: () => logger,
};
const timers: Timers = {
  now: () => Date.now(),
  setTimeout: (run, delayMs) => setTimeout(run, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};
const intervals = {
  ...DEFAULT_INTERVALS,
  SINK_COMMIT_INTERVAL_MS: 20,
  FACTS_COMMIT_INTERVAL_MS: 20,
  STORE_PROBE_INTERVAL_MS: 50,
};
const dataDir = mkdtempSync(join(tmpdir(), 'contracts-'));
let postgres: RunningStore<PostgresEndpoint>;
let clickhouse: RunningStore<ClickhouseEndpoint>;
let relational: Relational;
let analytics: Analytics;

beforeAll(async () => {
  // The server may run as another user, who must be able to enter.
  chmodSync(dataDir, 0o711);
  const { signal } = new AbortController();
  await Promise.all([
    createPostgresLauncher({ dataDir: join(dataDir, 'pg'), logger })
      .start(signal)
      .then((store) => {
        postgres = store;
      }),
    createClickhouseLauncher({ dataDir: join(dataDir, 'ch'), logger })
      .start(signal)
      .then((store) => {
        clickhouse = store;
      }),
  ]);
  const shared = { timers, logger, intervals };
  relational = createRelational({ url: postgres.endpoint.url, ...shared });
  analytics = createAnalytics({ ...clickhouse.endpoint, ...shared });
  const stores = { pool: relational.pool, analytics: analytics.command };
  const outcome = await applyMigrations(stores);
  expect(outcome).toMatchObject({ ok: true, steps: [{ number: 1 }, { number: 1 }] });
}, START_MS);

afterAll(async () => {
  await relational?.close();
  await analytics?.close();
  await Promise.all([postgres?.stop(10_000), clickhouse?.stop(10_000)]);
  rmSync(dataDir, { recursive: true, force: true });
}, START_MS);

describe('sensor registry', () => {
  sensorRegistryContract(() => relational.sensors);

  it('should tell when notifications are lost and when they flow again', async () => {
    const lost = Promise.withResolvers<void>();
    const restored = Promise.withResolvers<void>();
    const stop = await relational.sensors.watchIdentities({
      onChange: silent,
      onLost: () => lost.resolve(),
      onRestored: () => restored.resolve(),
    });
    await relational.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'service-console-identities'`,
    );
    await lost.promise;
    await restored.promise;
    await stop();
  });
});

describe('fact writer, keys, inventory, audit', () => {
  it('should keep the last report of a sensor in a group', async () => {
    const input = enrollment();
    await relational.sensors.createToken({
      tokenId: hex(8),
      hash: input.tokenHash,
      kind: 'enroll',
      sensorId: null,
      note: '',
      nowMs: NOW_MS,
      expiresAtMs: NOW_MS + 1_000,
      actor: 'test',
    });
    await relational.sensors.enroll(input);
    const { sensorId, system } = input.sensor;
    const report = (at: number) => ({
      sensorId,
      receivedAtMs: NOW_MS + at,
      bootId: 'boot\0',
      sensorVersion: `v${at}`,
      system: { ...system, os_name: HOSTILE },
      facts: { engine: { at }, trust: HOSTILE, resources: null, pipeline: [], capabilities: [] },
    });
    const written = await Promise.all([1, 2, 3].map((at) => relational.facts.write(report(at))));
    expect(written).toEqual([true, true, true]);
    expect(await relational.sensors.getSensor(sensorId)).toMatchObject({
      lastHeartbeatAtMs: NOW_MS + 3,
      sensorVersion: 'v3',
      bootId: 'boot\uFFFD',
      system: { os_name: HOSTILE },
      facts: report(3).facts,
    });
  });

  it('should keep keys by hash and revoke them for good', async () => {
    const hash = hashOf(hex(8));
    const key = { keyId: hex(8), name: 'a', scopes: ['x', 'y'], expiresAtMs: null };
    await relational.apiKeys.create({ ...key, hash, nowMs: NOW_MS });
    expect(await relational.apiKeys.findByHash(hash)).toMatchObject(key);
    expect(await relational.apiKeys.revoke({ keyId: key.keyId, nowMs: NOW_MS })).toBe(true);
    expect(await relational.apiKeys.revoke({ keyId: key.keyId, nowMs: NOW_MS + 1 })).toBe(true);
    expect((await relational.apiKeys.findByHash(hash))?.revokedAtMs).toBe(NOW_MS);
    expect(await relational.apiKeys.revoke({ keyId: 'none', nowMs: NOW_MS })).toBe(false);
  });

  it('should replace an inventory section whole', async () => {
    const at = { sensorId: hex(8), section: 'packages' as const };
    const items = [JSON.parse(`{"__proto__": 1, "b": ${JSON.stringify(HOSTILE)}}`)];
    await relational.inventory.put({ ...at, hash: 'h1', items: [{ a: 1 }], nowMs: 1 });
    await relational.inventory.put({ ...at, hash: 'h2', items, nowMs: 2 });
    const stored = await relational.inventory.get(at.sensorId, at.section);
    expect(stored).toEqual({ hash: 'h2', items, storedAtMs: 2 });
    expect(JSON.stringify(stored?.items)).toBe(JSON.stringify(items));
    expect(await relational.inventory.loadHashes()).toContainEqual({ ...at, hash: 'h2' });
  });

  it('should audit refused enrollments', async () => {
    const input = enrollment();
    await relational.sensors.enroll(input);
    const [last] = await relational.audit.recent(1);
    expect(last).toMatchObject({ target: input.sensor.nodeName, result: 'token_invalid' });
  });
});

describe('event store', () => {
  eventStoreContract(() => analytics);

  it('should take another retention', async () => {
    await analytics.events.setRetentionDays(30);
    expect(await analytics.events.ping()).toBe(true);
  });
});

describe('migrations', () => {
  it('should refuse a changed file, an older one and a newer database', async () => {
    const known = await readMigrations();
    const plan = (migrations: readonly (typeof known)[number][]) =>
      planMigrations({ pool: relational.pool, analytics: analytics.command, migrations });
    expect(await plan(known)).toEqual({ ok: true, steps: [] });
    expect(await plan(known.slice(1))).toMatchObject({ reason: 'database_is_newer' });
    const changed = known.map((one) => migrationOf(one.store, one.number, one.name, 'SELECT 1'));
    expect(await plan(changed)).toMatchObject({ reason: 'changed_after_applied' });
    const next = migrationOf('relational', 2, 'next', 'SELECT 1');
    expect(await plan([...known, next])).toMatchObject({ ok: true, steps: [{ number: 2 }] });
  });
});

describe('direct sink without a store', () => {
  it('should refuse while the store is away and store again by itself', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const away = createAnalytics({
      url: `http://127.0.0.1:${port}`,
      username: clickhouse.endpoint.username,
      password: clickhouse.endpoint.password,
      timers,
      logger,
      intervals,
    });
    const one = batch();
    expect(await away.sink.append(one)).toMatchObject({ ok: false });
    expect(await analytics.events.batchDigest(one)).toBeNull();
    await expect(away.events.storedRanges()).rejects.toThrow(EventStoreUnavailable);
    // The way to the real store opens; nobody restarts the sink.
    const target = new URL(clickhouse.endpoint.url);
    const relay = createTcpServer((socket) => {
      const onward = connect(Number(target.port), target.hostname);
      socket.on('error', silent).pipe(onward).on('error', silent).pipe(socket);
    }).listen(port, '127.0.0.1');
    await once(relay, 'listening');
    let outcome = await away.sink.append(one);
    while (!outcome.ok) {
      await new Promise((resolve) => setTimeout(resolve, intervals.STORE_PROBE_INTERVAL_MS));
      outcome = await away.sink.append(one);
    }
    expect(await analytics.events.batchDigest(one)).toBe(one.digest);
    await away.close();
    relay.close();
  });
});
