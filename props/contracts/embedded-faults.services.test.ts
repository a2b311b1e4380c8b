// The real embedded stores killed and frozen under load: what was acknowledged is there whole, what was not is whole or
// absent, every wait has an end, and nothing of the Console's side is rebuilt. invariant: I1, I3; decision: D7, D8
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  DATABASE_CONNECT_TIMEOUT_MS,
  DATABASE_TIMEOUT_MS,
  IDENTITY_WATCH_KEEPALIVE_MS,
  IDENTITY_WATCH_TIMEOUT_MS,
  SINK_INSERT_ATTEMPTS_MAX,
} from '../../machines/limits.ts';
import { createClickhouseLauncher } from '../../storage/embedded/clickhouse.ts';
import { createPostgresLauncher } from '../../storage/embedded/postgres.ts';
import type {
  ClickhouseEndpoint,
  PostgresEndpoint,
  RunningStore,
} from '../../storage/embedded/store-launcher.ts';
import { applyMigrations } from '../../storage/migrate.ts';
import { StoreUnavailable } from '../../storage/ports/plumbing/store-unavailable.ts';
import type { EventBatch } from '../../storage/ports/telemetry/event-store.ts';
import { slackOf } from '../yardstick.ts';
import {
  silentLogger as logger,
  openRealAnalytics,
  openRealRelational,
  openRealSink,
} from './real-stores.ts';
import { batch, enrollment, event, hex, NOW_MS, TOLD } from './samples.ts';

const START_MS = 90_000;
const STOP_MS = 10_000;
const POLL_MS = 50;
const SLACK_MS = 2_000;
/** What a call on a database that says nothing may take, connect or query, and some slack; more on a busy machine. */
const SILENT_MAX_MS = DATABASE_TIMEOUT_MS + DATABASE_CONNECT_TIMEOUT_MS + SLACK_MS;
const dataDir = mkdtempSync(join(tmpdir(), 'faults-'));
const postgresLauncher = createPostgresLauncher({ dataDir: join(dataDir, 'pg'), logger });
const clickhouseLauncher = createClickhouseLauncher({ dataDir: join(dataDir, 'ch'), logger });
const { signal } = new AbortController();
let postgres: RunningStore<PostgresEndpoint>;
let clickhouse: RunningStore<ClickhouseEndpoint>;
let control: Awaited<ReturnType<typeof openRealRelational>>;
let fleet: Awaited<ReturnType<typeof openRealAnalytics>>;

beforeAll(async () => {
  chmodSync(dataDir, 0o711);
  [postgres, clickhouse] = await Promise.all([
    postgresLauncher.start(signal),
    clickhouseLauncher.start(signal),
  ]);
  control = await openRealRelational(postgres.endpoint.url);
  fleet = await openRealAnalytics(clickhouse.endpoint);
  const analytics = fleet.analytics.command;
  expect(await applyMigrations({ pool: control.relational.pool, analytics })).toMatchObject({
    ok: true,
  });
}, START_MS);

afterAll(async () => {
  await control?.close();
  await fleet?.close();
  await Promise.all([postgres?.stop(STOP_MS), clickhouse?.stop(STOP_MS)]);
  rmSync(dataDir, { recursive: true, force: true });
}, START_MS);

async function until(isTrue: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

async function timed<T>(call: () => Promise<T>): Promise<{ value: T; tookMs: number }> {
  const startedAt = performance.now();
  const value = await call();
  return { value, tookMs: performance.now() - startedAt };
}

/** How much longer what the databases are asked may take on this machine. */
const databaseSlack = (): Promise<number> =>
  slackOf(() => control.relational.sensors.getSensor(hex(16)));

async function killPostgres(): Promise<void> {
  process.kill(postgres.pid, 'SIGKILL');
  await postgres.exited;
}

describe('ClickHouse killed in the middle of many appends', () => {
  const ROUNDS = 4;
  const LANES = 12;
  const EVENTS = 200;
  const REFUSED_PAUSE_MS = 250;

  it('should keep every acknowledged batch whole, and every other whole or absent', async () => {
    const { sink, events } = fleet.analytics;
    const sent: { one: EventBatch; isAcknowledged: boolean }[] = [];
    let isOver = false;
    async function lane(): Promise<void> {
      for (let sequence = 1; !isOver; sequence += 1) {
        const content = Array.from({ length: EVENTS }, () => event());
        const one = batch({ events: content, sequence });
        const outcome = await sink.append(one);
        sent.push({ one, isAcknowledged: outcome.ok });
        if (!outcome.ok) await new Promise((resolve) => setTimeout(resolve, REFUSED_PAUSE_MS));
      }
    }
    const lanes = Array.from({ length: LANES }, lane);
    for (let round = 1; round <= ROUNDS; round += 1) {
      const known = sent.length;
      await until(() => sent.slice(known).filter((x) => x.isAcknowledged).length > LANES * 2);
      await new Promise((resolve) => setTimeout(resolve, 7 * round));
      process.kill(clickhouse.pid, 'SIGKILL');
      await clickhouse.exited;
      clickhouse = await clickhouseLauncher.start(signal);
    }
    const known = sent.length;
    await until(() => sent.slice(known).some((x) => x.isAcknowledged));
    isOver = true;
    await Promise.all(lanes);
    let refusedButWhole = 0;
    for (const { one, isAcknowledged } of sent) {
      const stored = await events.countDistinct({ sensorId: one.sensorId });
      const digest = await events.batchDigest(one);
      expect(isAcknowledged ? [EVENTS] : [0, EVENTS]).toContain(stored);
      expect(digest).toBe(stored === 0 ? null : one.digest);
      if (!isAcknowledged && stored > 0) refusedButWhole += 1;
    }
    const refused = sent.filter((x) => !x.isAcknowledged);
    expect(refused.length).toBeGreaterThan(0);
    console.info(
      `${sent.length} batches, ${refused.length} refused, ${refusedButWhole} of them stored whole`,
    );
    // A refused batch that comes again is stored once.
    for (const { one } of refused.slice(0, LANES)) {
      await until(async () => (await sink.append(one)).ok);
      expect(await events.countDistinct({ sensorId: one.sensorId })).toBe(EVENTS);
    }
  });
});

describe('ClickHouse frozen', () => {
  const INSERT_TIMEOUT_MS = 500;
  const CLOSE_MAX_MS = 5_000;

  it('should be refused after its time-outs, then at once, and end by itself', async () => {
    const { events } = fleet.analytics;
    const own = await openRealSink(clickhouse.endpoint, events, {
      insertTimeoutMs: INSERT_TIMEOUT_MS,
    });
    const [first, second] = [batch(), batch()];
    const slackMs = await slackOf(() => own.sink.append(batch()));
    process.kill(clickhouse.pid, 'SIGSTOP');
    try {
      const slow = await timed(() => own.sink.append(first));
      const fast = await timed(() => own.sink.append(second));
      expect([slow.value.ok, fast.value.ok]).toEqual([false, false]);
      const attempts = SINK_INSERT_ATTEMPTS_MAX + 1;
      expect(slow.tookMs).toBeLessThan(INSERT_TIMEOUT_MS * attempts + slackMs);
      expect(fast.tookMs).toBeLessThan(slow.tookMs / 2);
    } finally {
      process.kill(clickhouse.pid, 'SIGCONT');
    }
    for (const one of [first, second]) {
      await until(async () => (await own.sink.append(one)).ok);
      expect(await events.countDistinct({ sensorId: one.sensorId })).toBe(one.events.length);
      const found = await events.search({ sensorId: one.sensorId, limit: 10 });
      expect(found).toHaveLength(one.events.length);
    }
    await own.close();
  });

  it('should let the sink be closed in a bounded time', async () => {
    const own = await openRealSink(clickhouse.endpoint, fleet.analytics.events, {
      insertTimeoutMs: INSERT_TIMEOUT_MS,
    });
    expect(await own.sink.append(batch())).toEqual({ ok: true });
    const slackMs = await slackOf(() => own.sink.append(batch()));
    await own.setFault('stalled');
    const answer = own.sink.append(batch());
    const closed = await timed(() => own.close());
    expect(await answer).toMatchObject({ ok: false });
    expect(closed.tookMs).toBeLessThan(CLOSE_MAX_MS + slackMs);
  });
});

describe('PostgreSQL killed and frozen', () => {
  async function enrolled() {
    const { sensors } = control.relational;
    const input = enrollment();
    await sensors.createToken({
      tokenId: hex(8),
      hash: input.tokenHash,
      kind: 'enroll',
      sensorId: null,
      note: '',
      nowMs: NOW_MS,
      expiresAtMs: NOW_MS + 1_000,
      actor: 'test',
    });
    expect(await sensors.enroll(input)).toMatchObject({ ok: true });
    const { sensorId, system, bootId, sensorVersion } = input.sensor;
    const facts = { engine: 1, trust: 1, resources: 1, pipeline: 1, capabilities: [] };
    return (at: number) => ({
      ...{ sensorId, system, bootId, sensorVersion, ...TOLD, facts },
      receivedAtMs: NOW_MS + at,
    });
  }
  /** Counts what a watcher is told. */
  async function watching() {
    const told = { lost: 0, restored: 0, changed: [] as string[] };
    const { stop } = await control.relational.sensors.watchIdentities({
      onChange: (id) => void told.changed.push(id),
      onLost: () => {
        told.lost += 1;
      },
      onRestored: () => {
        told.restored += 1;
      },
    });
    return { told, stop };
  }
  async function expectWorking(report: Awaited<ReturnType<typeof enrolled>>, at: number) {
    const { sensors, facts } = control.relational;
    await until(async () => await control.relational.health.ping());
    await until(async () => await facts.write(report(at)));
    const row = await sensors.getSensor(report(at).sensorId);
    expect(row?.lastHeartbeatAtMs).toBe(NOW_MS + at);
  }

  it('should be said at once after SIGKILL, lose nothing, and end by itself', async () => {
    const { sensors, facts } = control.relational;
    const { told, stop } = await watching();
    const report = await enrolled();
    const slackMs = await databaseSlack();
    await killPostgres();
    const ask = () => timed(() => sensors.getSensor(report(0).sensorId).catch((e: unknown) => e));
    let read = await ask();
    // Processes of the server that serve a connection outlive their parent for a moment.
    while (!(read.value instanceof Error)) read = await ask();
    expect(read.value).toBeInstanceOf(StoreUnavailable);
    const written = await timed(() => facts.write(report(1)));
    expect(written.value).toBe(false);
    expect(Math.max(read.tookMs, written.tookMs)).toBeLessThan(SILENT_MAX_MS + slackMs);
    await until(() => told.lost === 1);
    postgres = await postgresLauncher.start(signal);
    await expectWorking(report, 2);
    await until(() => told.restored === 1);
    const { sensorId } = report(0);
    await sensors.revoke({ sensorId, nowMs: NOW_MS, reason: 'x', actor: 'test' });
    await until(() => told.changed.includes(sensorId));
    await stop();
  });

  it('should make one identity of each token or none when it dies among 60 enrollments', async () => {
    const { sensors } = control.relational;
    const inputs = Array.from({ length: 60 }, () => enrollment());
    for (const input of inputs) {
      await sensors.createToken({
        tokenId: hex(8),
        hash: input.tokenHash,
        kind: 'enroll',
        sensorId: null,
        note: '',
        nowMs: NOW_MS,
        expiresAtMs: NOW_MS + 1_000,
        actor: 'test',
      });
    }
    let done = 0;
    const outcomes = inputs.map((input) =>
      sensors.enroll(input).then(
        (outcome) => {
          done += 1;
          return outcome;
        },
        (error: unknown) => error,
      ),
    );
    await until(() => done > 5);
    await killPostgres();
    const settled = await Promise.all(outcomes);
    postgres = await postgresLauncher.start(signal);
    await until(() => control.relational.health.ping());
    for (const [at, input] of inputs.entries()) {
      const outcome = settled[at];
      const identities = await sensors.identitiesOf(input.sensor.sensorId);
      const token = await sensors.findToken(input.tokenHash);
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(StoreUnavailable);
      else expect(outcome).toMatchObject({ ok: true, certificate: input.certificate });
      expect(identities.length).toBe(token?.consumedAtMs === null ? 0 : 1);
      if (!(outcome instanceof Error)) expect(identities.length).toBe(1);
      // Who got no answer asks again with the same key, and has one identity then.
      expect(await sensors.enroll(input)).toMatchObject({ ok: true });
      expect(await sensors.identitiesOf(input.sensor.sensorId)).toHaveLength(1);
    }
  });

  it('should be said within its time-outs when it freezes, and end by itself', async () => {
    const { sensors, facts } = control.relational;
    const { told, stop } = await watching();
    const report = await enrolled();
    const slackMs = await databaseSlack();
    const pids = await backendPids();
    for (const pid of [postgres.pid, ...pids]) process.kill(pid, 'SIGSTOP');
    try {
      const [read, written, lostMs] = await Promise.all([
        timed(() => sensors.getSensor(report(0).sensorId).catch((error: unknown) => error)),
        timed(() => facts.write(report(1))),
        timed(() => until(() => told.lost === 1)).then((one) => one.tookMs),
      ]);
      expect(read.value).toBeInstanceOf(StoreUnavailable);
      expect(written.value).toBe(false);
      expect(Math.max(read.tookMs, written.tookMs)).toBeLessThan(SILENT_MAX_MS + slackMs);
      const heardMs = IDENTITY_WATCH_KEEPALIVE_MS + IDENTITY_WATCH_TIMEOUT_MS + SLACK_MS;
      expect(lostMs).toBeLessThan(heardMs + slackMs);
    } finally {
      for (const pid of [...pids, postgres.pid]) process.kill(pid, 'SIGCONT');
    }
    await expectWorking(report, 2);
    await until(() => told.restored === 1);
    await stop();
  });

  it('should be closed in a bounded time when it says nothing any more', async () => {
    const own = await openRealRelational(postgres.endpoint.url);
    const { stop } = await own.relational.sensors.watchIdentities({
      onChange: () => undefined,
      onLost: () => undefined,
      onRestored: () => undefined,
    });
    const report = await enrolled();
    expect(await own.relational.facts.write(report(1))).toBe(true);
    const slackMs = await databaseSlack();
    await own.relay.setFault('stalled');
    const answer = own.relational.facts.write(report(2));
    const closed = await timed(async () => {
      await stop();
      await own.relational.close();
    });
    expect(await answer).toBe(false);
    expect(closed.tookMs).toBeLessThan(SILENT_MAX_MS + slackMs);
    await own.relay.close();
  });

  it('should not use a connection again that died without a word', async () => {
    const { sensors } = control.relational;
    const report = await enrolled();
    // Every open connection is held for good; new ones find their way.
    await control.relay.setFault('stalled');
    const read = await timed(() => sensors.getSensor(report(0).sensorId).catch((e: unknown) => e));
    expect(read.value).toBeInstanceOf(StoreUnavailable);
    control.relay.forgetHeld();
    const pool = control.relational.pool;
    expect(pool.totalCount).toBeLessThan(pool.options.max);
    await expectWorking(report, 1);
    await control.relay.setFault('none');
  });
});

/** Processes of the server that answer somebody. */
async function backendPids(): Promise<readonly number[]> {
  const { rows } = await control.relational.pool.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'`,
  );
  return rows.map((row) => row.pid);
}
