// The watch over a real analytics database: what it reads of it, and what people are told when it goes away, comes back, or
// comes back while another Console is designated. decision: D155
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAlerts } from '../../actors/detection/alerts.ts';
import { silentLogger as logger } from '../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import { createAnalyticsWatch } from '../../actors/telemetry/analytics-watch.ts';
import { systemChance as chance } from '../../actors/trust/chance.ts';
import { createClickhouseLauncher } from '../../storage/embedded/clickhouse.ts';
import type { ClickhouseEndpoint, RunningStore } from '../../storage/embedded/store-launcher.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { readMigrations } from '../../storage/migrate.ts';
import { openRealAnalytics } from '../contracts/real-stores.ts';

const START_MS = 120_000;
const dataDir = mkdtempSync(join(tmpdir(), 'analytics-health-'));
const { signal } = new AbortController();
let clickhouse: RunningStore<ClickhouseEndpoint>;
let stores: Awaited<ReturnType<typeof openRealAnalytics>>;

beforeAll(async () => {
  chmodSync(dataDir, 0o711);
  clickhouse = await createClickhouseLauncher({ dataDir, logger }).start(signal);
  stores = await openRealAnalytics(clickhouse.endpoint);
  for (const { store, sql } of await readMigrations()) {
    if (store !== 'analytics') continue;
    for (const statement of sql.split(/^;$/m)) {
      if (statement.trim() !== '') await stores.analytics.command(statement);
    }
  }
}, START_MS);
afterAll(async () => {
  await stores?.close();
  await clickhouse?.stop(10_000);
  rmSync(dataDir, { recursive: true, force: true });
}, START_MS);

/** A Console that looks, and tells people under its tenure. */
async function watching(relational: ReturnType<typeof createMemoryRelational>) {
  const stood = await relational.designation.stand({
    ...{ holder: 'test', nowMs: Date.now(), onLost: () => undefined },
  });
  if (stood === null) throw new Error('somebody else is designated');
  await stood.release();
  const { epoch } = stood;
  const watch = createAnalyticsWatch({
    ...{ health: stores.analytics.health, queuedRows: () => 3, chance, logger },
    alerts: createAlerts({ store: relational.alerts, now: Date.now }),
    clock: createWheelClock({ onError: () => undefined }),
    ...{ now: Date.now, monotonicNow: () => performance.now() },
  });
  return {
    watch,
    /** Two looks decide. */
    async looks(): Promise<unknown> {
      for (let looks = 0; looks < 2; looks += 1) await watch.look.run({ signal });
      await watch.tell.run({ signal, epoch });
      return watch.snapshot().value;
    },
  };
}

async function alertsOf({ alerts }: ReturnType<typeof createMemoryRelational>) {
  const rows = await alerts.list({ limit: 10, before: null, filter: {} } as never);
  return rows.map(({ alert, state, severity }) => [alert.headline, severity, state]);
}

it('should be read, told of when it is away, and be over when it answers again', async () => {
  const relational = createMemoryRelational();
  const { watch, looks } = await watching(relational);
  await stores.analytics.command(
    `INSERT INTO health_probes (at) SELECT now64(3) - number FROM numbers(10)`,
  );
  expect(await looks()).toBe('healthy');
  const { last } = watch.snapshot().context;
  expect(last).toMatchObject({ queuedRows: 3, merges: expect.any(Number) });
  for (const value of [last?.pingMs, last?.insertMs, last?.queryMs]) {
    expect(value).toBeGreaterThanOrEqual(0);
  }
  expect(last?.parts).toBeGreaterThan(0);
  expect(last?.partsMost).toBeLessThanOrEqual(last?.parts ?? 0);
  expect(last?.diskFreeBytes).toBeGreaterThan(0);
  expect(last?.diskTotalBytes).toBeGreaterThanOrEqual(last?.diskFreeBytes ?? 0);
  expect(await alertsOf(relational)).toEqual([]);
  stores.setAway(true);
  expect(await looks()).toBe('away');
  expect(watch.snapshot().context.findings).toEqual(['ping_failed']);
  expect(await alertsOf(relational)).toEqual([
    ['The analytics database does not work', 'critical', 'open'],
  ]);
  stores.setAway(false);
  expect(await looks()).toBe('healthy');
  expect((await alertsOf(relational)).map(([, , state]) => state)).toEqual(['resolved']);
});

it('should be over, too, when it comes back under another Console', async () => {
  const relational = createMemoryRelational();
  const before = await watching(relational);
  stores.setAway(true);
  expect(await before.looks()).toBe('away');
  stores.setAway(false);
  const next = await watching(relational);
  expect(await next.looks()).toBe('healthy');
  expect((await alertsOf(relational)).map(([, , state]) => state)).toEqual(['resolved']);
});
