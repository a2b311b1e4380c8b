// One embedded PostgreSQL for all mutants of storage/relational: a start for each would cost more than the contracts.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { createPostgresLauncher } from '../../storage/embedded/postgres.ts';
import { applyMigrations } from '../../storage/migrate.ts';
import { silentLogger } from '../contracts/real-stores.ts';

const STOP_MS = 10_000;

declare module 'vitest' {
  interface ProvidedContext {
    /** A database with the tables of today, to copy. */
    templateUrl: string;
  }
}

export default async function startPostgres(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'mutation-'));
  // The server may run as another user, who must be able to enter.
  chmodSync(dataDir, 0o711);
  const { signal } = new AbortController();
  const server = await createPostgresLauncher({ dataDir, logger: silentLogger }).start(signal);
  const { url } = server.endpoint;
  const pool = new pg.Pool({ connectionString: url });
  const analytics = () => Promise.reject(new Error('only PostgreSQL is here'));
  await applyMigrations({ pool, analytics, only: ['relational'] });
  await pool.end();
  project.provide('templateUrl', url);
  return async () => {
    await server.stop(STOP_MS);
    rmSync(dataDir, { recursive: true, force: true });
  };
}
