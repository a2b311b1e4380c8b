// A week of events exported to a real S3 server by the program's own threads, killed in the middle of each step: every day is
// there once, and whoever reads the files finds what the event store holds. decision: D157, D158
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createExportLoop } from '../../actors/exports/export-loop.ts';
import { createS3Store } from '../../actors/exports/s3-store.ts';
import { silentLogger as logger } from '../../actors/runtime/silent-logger.ts';
import { systemChance } from '../../actors/trust/chance.ts';
import { createExportThreads } from '../../gateway/process/export-threads.ts';
import { EXPORT_TABLES, manifestNameOf } from '../../machines/console/exports/export-run.rules.ts';
import { EXPORT_PART_ROWS_MAX } from '../../machines/limits.ts';
import { createClickhouseLauncher } from '../../storage/embedded/clickhouse.ts';
import type { ClickhouseEndpoint, RunningStore } from '../../storage/embedded/store-launcher.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { readMigrations } from '../../storage/migrate.ts';
import type { Exporter } from '../../storage/ports/exports/exporter.ts';
import { openRealAnalytics } from '../contracts/real-stores.ts';
import { openS3Server, S3_SECRET, type S3Server } from './s3-server.ts';

const START_MS = 120_000;
const NOW_MS = Date.parse('2026-11-25T12:00:00Z');
const DAYS = [18, 19, 20, 21, 22, 23, 24].map((day) => `2026-11-${day}`);
/** One day has so many that it takes two parts, each of several chunks. */
const LARGE_DAY = '2026-11-21';
const OTHER_ROWS = 50;
const KILLED_CALLS = 5;
const dataDir = mkdtempSync(join(tmpdir(), 'exports-'));
let clickhouse: RunningStore<ClickhouseEndpoint>;
let stores: Awaited<ReturnType<typeof openRealAnalytics>>;
let s3: S3Server;

beforeAll(async () => {
  chmodSync(dataDir, 0o711);
  const { signal } = new AbortController();
  clickhouse = await createClickhouseLauncher({ dataDir, logger }).start(signal);
  stores = await openRealAnalytics(clickhouse.endpoint);
  for (const { store, sql } of await readMigrations()) {
    if (store !== 'analytics') continue;
    for (const statement of sql.split(/^;$/m)) {
      if (statement.trim() !== '') await stores.analytics.command(statement);
    }
  }
  s3 = await openS3Server();
  for (const day of DAYS) await fill(day, day === LARGE_DAY ? EXPORT_PART_ROWS_MAX + 500 : 200);
  // Sent twice: under another number, as a Sensor does that got no answer.
  await fill(LARGE_DAY, 100, 2);
  for (const day of DAYS) await fillOthers(day);
}, START_MS);

afterAll(async () => {
  await s3?.close();
  await stores?.close();
  await clickhouse?.stop(10_000);
  rmSync(dataDir, { recursive: true, force: true });
}, START_MS);

function fill(day: string, rows: number, sequence = 1): Promise<void> {
  return stores.analytics.command(`
    INSERT INTO runtime_events (event_id, sensor_id, node_name, stream_id, channel, sequence,
      batch_digest, observed_at, received_at, event_kind, severity, message)
    SELECT lower(hex(MD5(concat('${day}', toString(number))))), concat('sensor-', toString(number % 7)),
      'node', 'stream', 'stream', ${sequence}, 'digest',
      toDateTime64('${day} 00:00:00', 9, 'UTC') + number % 86400,
      toDateTime64('${day} 23:59:59.999', 3, 'UTC'), 'process_exec', 'info',
      ${day === LARGE_DAY ? 'randomPrintableASCII(200)' : "'text'"}
    FROM numbers(${rows})`);
}

/** A few rows of a day in each of the other tables; scores come with their events. */
async function fillOthers(day: string): Promise<void> {
  const at = `toDateTime64('${day} 10:00:00', 3, 'UTC') + number`;
  const sensor = `concat('sensor-', toString(number % 7)) AS sensor_id`;
  const rows: Readonly<Record<string, string>> = {
    sensor_transitions: `${sensor}, ${at} AS at, number AS position, 'sensor' AS actor_kind`,
    sensor_coverage: `${sensor}, toStartOfHour(toDateTime('${day} 10:00:00', 'UTC')) + 3600 * (number % 9) AS hour,
      'stream' AS stream_id, ${at} AS reported_at, number AS seen`,
    resource_metrics: `${sensor}, ${at} AS at, 1.5 AS cpu_percent, number AS memory_bytes`,
    network_flows: `${sensor}, ${at} AS first_seen_at, ${at} AS last_seen_at, ${at} AS reported_at,
      'tcp' AS protocol, 'out' AS direction, '203.0.113.9' AS remote_ip, number AS port`,
    anomaly_scores: `${sensor}, ${at} AS at, ${at} AS received_at, toString(number) AS event_id, 0.9 AS score`,
  };
  for (const [table, columns] of Object.entries(rows)) {
    const names = [...columns.matchAll(/ AS (\w+)/g)].map(([, name]) => name).join(', ');
    await stores.analytics.command(
      `INSERT INTO ${table} (${names}) SELECT ${columns} FROM numbers(${OTHER_ROWS})`,
    );
  }
}

async function rowsOf(query: string): Promise<string> {
  const { url, username, password } = clickhouse.endpoint;
  const headers = { 'x-clickhouse-user': username, 'x-clickhouse-key': password };
  const answer = await fetch(`${url}/?query=${encodeURIComponent(query)}`, { headers });
  expect(answer.status, await answer.clone().text()).toBe(200);
  return (await answer.text()).trim();
}

/** What works on exports under one tenure; `kill` ends it in the middle of a call, before or after what the call did. */
async function tenure(
  relational: ReturnType<typeof createMemoryRelational>,
  kill: { readonly call: number; readonly when: 'before' | 'after' } | null,
) {
  const stood = await relational.designation.stand({
    ...{ holder: 'test', nowMs: NOW_MS, onLost: () => undefined },
  });
  if (stood === null) throw new Error('somebody else is designated');
  await stood.release();
  const dead = new AbortController();
  let calls = 0;
  const threads = createExportThreads({
    access: () => clickhouse.endpoint,
    folder: join(dataDir, 'exports'),
  });
  const dying = async <T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    calls += 1;
    if (kill?.call !== calls) return call(dead.signal);
    if (kill.when === 'after') await call(dead.signal);
    const cut = kill.when === 'before' ? call(dead.signal) : null;
    dead.abort();
    await cut;
    throw new Error('killed');
  };
  const exporter: Exporter = {
    copy: (job) => dying((signal) => threads.copy(job, signal)),
    put: (job) => dying((signal) => threads.put(job, signal)),
    remove: (job) => dying((signal) => threads.remove(job, signal)),
  };
  const { allowList } = s3;
  const work = createExportLoop({
    alerts: { raise: async () => [] },
    ...{ exports: relational.exports, exporter, chance: systemChance, logger, version: 'test' },
    source: { tally: (of) => dying(() => stores.analytics.exportSource.tally(of)) },
    destinationOf: ({ place, prefix }) => ({
      ...{ place, prefix, secretAccessKey: S3_SECRET, allowList },
    }),
    now: () => NOW_MS,
  });
  const { epoch } = stood;
  for (;;) {
    const result = await work.loop.run({ epoch, signal: dead.signal });
    if (result?.hasMore !== true) return { isDead: dead.signal.aborted, calls };
  }
}

describe('a week of events', () => {
  it('should lie in the bucket once, whatever step the Console was killed in', async () => {
    const relational = createMemoryRelational();
    await relational.exports.putTarget({
      ...{ actor: 'test', nowMs: NOW_MS, revision: 0 },
      target: {
        ...{ place: s3.place, prefix: 'fleet/one', tables: EXPORT_TABLES, isOn: true },
        ...{ fromDay: DAYS[0] ?? '', secretSealed: null },
      },
    });
    // The first calls of a tenure are: count, copy, count again, manifest; then those of the next day. Each is killed, before
    // and after it did what it does, again and again until nothing is left to be done.
    let [kills, isDead] = [0, true];
    while (isDead) {
      const call = 1 + (Math.floor(kills / 2) % KILLED_CALLS);
      ({ isDead } = await tenure(relational, { call, when: kills % 2 === 0 ? 'before' : 'after' }));
      kills += 1;
    }
    expect(kills).toBeGreaterThan(DAYS.length * EXPORT_TABLES.length);
    const runs = await relational.exports.list({ limit: 1_000, before: null });
    expect(runs).toHaveLength(DAYS.length * EXPORT_TABLES.length);
    expect(runs.filter(({ state }) => state !== 'done')).toEqual([]);
    await expectWhole(relational);
    const whole = await Promise.all(runs.map((run) => relational.exports.get(run)));
    const expected = whole.flatMap((one) =>
      one === null ? [] : [manifestNameOf(one.run), ...one.objects.map(({ name }) => name)],
    );
    expect(expected).toHaveLength(2 * DAYS.length * EXPORT_TABLES.length + 1);
    expect([...s3.objects()].sort()).toEqual(expected.map((name) => `fleet/one/${name}`).sort());
    expect(s3.hasChunks()).toBe(false);
  }, 300_000);
});

async function expectWhole(relational: ReturnType<typeof createMemoryRelational>): Promise<void> {
  const bucket = createS3Store({ ...s3, secretAccessKey: S3_SECRET });
  const { signal } = new AbortController();
  const bytesOf = async (name: string): Promise<Buffer> => {
    const found = await bucket.read(`fleet/one/${name}`, signal);
    if (found === null) throw new Error(`${name} is not there`);
    return buffer(found);
  };
  const folder = join(dataDir, 'read');
  mkdirSync(folder);
  const names = new Set<string>();
  for (const day of DAYS) {
    const of = { table: 'runtime_events', day } as const;
    const manifest = JSON.parse((await bytesOf(manifestNameOf(of))).toString());
    expect(manifest.objects).toHaveLength(day === LARGE_DAY ? 2 : 1);
    expect((await relational.exports.get(of))?.objects.map(({ name }) => name)).toEqual(
      manifest.objects.map(({ name }: { name: string }) => name),
    );
    for (const { name } of manifest.objects) {
      expect(names.has(name)).toBe(false);
      names.add(name);
      writeFileSync(join(folder, `${names.size}.parquet`), await bytesOf(name));
    }
  }
  // ClickHouse reads the files by itself and finds what its table holds, each event once.
  const sums = 'count(), uniqExact(event_id), sum(cityHash64(event_id)), uniqExact(sensor_id)';
  const inFiles = await rowsOf(`SELECT ${sums} FROM file('${folder}/*.parquet', Parquet)`);
  const inTable = await rowsOf(
    `SELECT ${sums} FROM (SELECT * FROM runtime_events LIMIT 1 BY event_id)`,
  );
  expect(inFiles).toBe(inTable);
  expect(inFiles.split('\t')[0]).toBe(String(6 * 200 + EXPORT_PART_ROWS_MAX + 500));
}
