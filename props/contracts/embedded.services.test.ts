// Every storage contract on the real embedded stores: one start of both for the whole file, no root needed.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClickhouseLauncher } from '../../storage/embedded/clickhouse.ts';
import { createPostgresLauncher } from '../../storage/embedded/postgres.ts';
import type {
  ClickhouseEndpoint,
  PostgresEndpoint,
  RunningStore,
} from '../../storage/embedded/store-launcher.ts';
import { applyMigrations, readMigrations } from '../../storage/migrate.ts';
import { agedDatabaseContract } from './aged-database.contract.ts';
import { baselineStoreContract } from './baseline-store.contract.ts';
import { eventSinkContract } from './event-sink.contract.ts';
import { eventStoreContract } from './event-store.contract.ts';
import { migrationsContract } from './migrations.contract.ts';
import { postgresContracts } from './postgres-contracts.ts';
import {
  silentLogger as logger,
  openFactWriter,
  openRealAnalytics,
  openRealRelational,
  openRealSink,
} from './real-stores.ts';
import { batch, enrollment, event, hex, NOW_MS, TOLD } from './samples.ts';
import { telemetryStoreContract } from './telemetry-store.contract.ts';

const START_MS = 60_000;
const STOP_MS = 10_000;
const dataDir = mkdtempSync(join(tmpdir(), 'contracts-'));
let postgres: RunningStore<PostgresEndpoint>;
let clickhouse: RunningStore<ClickhouseEndpoint>;
let control: Awaited<ReturnType<typeof openRealRelational>>;
let fleet: Awaited<ReturnType<typeof openRealAnalytics>>;

beforeAll(async () => {
  // The server may run as another user, who must be able to enter.
  chmodSync(dataDir, 0o711);
  const { signal } = new AbortController();
  [postgres, clickhouse] = await Promise.all([
    createPostgresLauncher({ dataDir: join(dataDir, 'pg'), logger }).start(signal),
    createClickhouseLauncher({ dataDir: join(dataDir, 'ch'), logger }).start(signal),
  ]);
  control = await openRealRelational(postgres.endpoint.url);
  fleet = await openRealAnalytics(clickhouse.endpoint);
  const migrations = await readMigrations();
  const outcome = await applyMigrations(migrationStores());
  expect(outcome).toMatchObject({
    ok: true,
    steps: migrations.map(({ store, number }) => ({ store, number })),
  });
}, START_MS);

afterAll(async () => {
  await control?.close();
  await fleet?.close();
  await Promise.all([postgres?.stop(STOP_MS), clickhouse?.stop(STOP_MS)]);
  rmSync(dataDir, { recursive: true, force: true });
}, START_MS);

function migrationStores() {
  return { pool: control.relational.pool, analytics: fleet.analytics.command };
}

/** Rows of one query against the analytics store, past every port. */
async function rowsOf(query: string): Promise<string> {
  const { url, username, password } = clickhouse.endpoint;
  const headers = { 'x-clickhouse-user': username, 'x-clickhouse-key': password };
  const answer = await fetch(`${url}/?query=${encodeURIComponent(query)}`, { headers });
  expect(answer.status).toBe(200);
  return (await answer.text()).trim();
}

describe('relational ports on PostgreSQL', () => {
  postgresContracts(() => control);

  it('should refuse facts at once when the queue is full, and after closing', async () => {
    const facts = openFactWriter(control.relational.db, 2);
    const { system, bootId, sensorVersion } = enrollment().sensor;
    const report = () => ({
      sensorId: hex(8),
      receivedAtMs: NOW_MS,
      system,
      bootId,
      sensorVersion,
      ...TOLD,
      facts: { engine: 1, trust: 1, resources: 1, pipeline: 1, capabilities: [] },
    });
    await control.relay.setFault('stalled');
    const taken = [facts.write(report()), facts.write(report())];
    expect(await facts.write(report())).toBe(false);
    expect(facts.queuedRows()).toBe(2);
    await control.relay.setFault('none');
    expect(await Promise.all(taken)).toEqual([true, true]);
    const last = facts.write(report());
    await facts.close();
    expect(await last).toBe(true);
    expect(await facts.write(report())).toBe(false);
  });

  it('should keep no secret of a key, only its hash', async () => {
    const { rows } = await control.relational.pool.query<{ name: string }>(
      `SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'api_keys'`,
    );
    expect(rows.map((row) => row.name)).toContain('hash');
    expect(rows.map((row) => row.name)).not.toContain('secret');
  });

  it('should hold no table that could take a runtime event', async () => {
    const { rows } = await control.relational.pool.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    expect(rows.map((row) => row.name).filter((name) => name.includes('event'))).toEqual([]);
  });
});

const SPECIFIED_TABLES = [
  ...['runtime_events', 'anomaly_scores', 'process_baselines', 'ngap_kpi'],
  ...['energy_metrics', 'telco_trends', 'sensor_transitions', 'sensor_coverage'],
  ...['resource_metrics', 'network_flows'],
];

describe('event store on ClickHouse', () => {
  eventStoreContract({
    port: () => fleet.analytics,
    setAway: (away) => fleet.setAway(away),
  });

  it('should keep every table by the retention that is set, and change them for another one only', async () => {
    const { events } = fleet.analytics;
    const ttls = () =>
      rowsOf(`SELECT DISTINCT extract(engine_full, 'toIntervalDay\\\\((\\\\d+)\\\\)') FROM system.tables
        WHERE database = currentDatabase() AND engine LIKE '%MergeTree'`);
    const changes = () => rowsOf('SELECT count() FROM system.mutations');
    // Those of the specification, whoever fills them.
    const tables = await rowsOf(
      'SELECT name FROM system.tables WHERE database = currentDatabase()',
    );
    for (const table of SPECIFIED_TABLES) expect(tables.split('\n')).toContain(table);
    await events.setRetentionDays(31);
    expect(await ttls()).toBe('31');
    const before = await changes();
    await events.setRetentionDays(31);
    expect(await changes()).toBe(before);
    await events.setRetentionDays(90);
    expect(await ttls()).toBe('90');
    expect(await changes()).not.toBe(before);
  });
});

describe('telemetry on ClickHouse', () => {
  const setAway = (away: boolean) => fleet.setAway(away);
  telemetryStoreContract({ port: () => fleet.analytics.telemetry, setAway });
  baselineStoreContract({ port: () => fleet.analytics, setAway });
});

describe('event sink on ClickHouse', () => {
  eventSinkContract((options) =>
    openRealSink(clickhouse.endpoint, fleet.analytics.events, options),
  );

  it('should repeat an insert with its token when one answer is lost: one copy on disk', async () => {
    const own = await openRealSink(clickhouse.endpoint, fleet.analytics.events);
    const one = batch({ events: Array.from({ length: 50 }, () => event()) });
    await own.setFault('one_answer_lost');
    expect(await own.sink.append(one)).toEqual({ ok: true });
    const stored = `SELECT count() FROM runtime_events WHERE sensor_id = '${one.sensorId}'`;
    expect(await rowsOf(stored)).toBe('50');
    await own.close();
  });
});

describe('migrations', () => {
  migrationsContract(migrationStores);
  agedDatabaseContract(() => ({ url: postgres.endpoint.url, pool: control.relational.pool }));
});
