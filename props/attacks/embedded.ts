// One embedded PostgreSQL and one embedded event store for the attacks that run on them, with the tables of today.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { createAnalyticsClient } from '../../storage/analytics/client.ts';
import { createClickhouseLauncher } from '../../storage/embedded/clickhouse.ts';
import { createPostgresLauncher } from '../../storage/embedded/postgres.ts';
import type { ClickhouseEndpoint } from '../../storage/embedded/store-launcher.ts';
import { applyMigrations } from '../../storage/migrate.ts';
import { silentLogger as logger } from '../contracts/real-stores.ts';

const STOP_MS = 10_000;

declare module 'vitest' {
  interface ProvidedContext {
    /** A database with the tables of today, to copy. */
    templateUrl: string;
    eventStore: ClickhouseEndpoint;
  }
}

export default async function startStores(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'attacks-'));
  // The server may run as another user, who must be able to enter.
  chmodSync(dataDir, 0o711);
  const { signal } = new AbortController();
  const [relational, analytics] = await Promise.all([
    createPostgresLauncher({ dataDir: join(dataDir, 'pg'), logger }).start(signal),
    createClickhouseLauncher({ dataDir: join(dataDir, 'ch'), logger }).start(signal),
  ]);
  const pool = new pg.Pool({ connectionString: relational.endpoint.url });
  const client = createAnalyticsClient(analytics.endpoint);
  const migrated = await applyMigrations({
    pool,
    analytics: async (query) => void (await client.command({ query })),
  });
  // A database that somebody uses is not copied.
  await Promise.all([pool.end(), client.close()]);
  if (!migrated.ok) throw new Error(migrated.detail);
  project.provide('templateUrl', relational.endpoint.url);
  project.provide('eventStore', analytics.endpoint);
  return async () => {
    await Promise.all([relational.stop(STOP_MS), analytics.stop(STOP_MS)]);
    rmSync(dataDir, { recursive: true, force: true });
  };
}
