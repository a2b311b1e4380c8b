// The PostgreSQL of runs on a real one: one server, one database with the tables of today and a clock that the world sets,
// and a copy of it for every run.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createPostgresLauncher } from '../../storage/embedded/postgres.ts';
import { applyMigrations } from '../../storage/migrate.ts';
import { silentLogger } from '../contracts/real-stores.ts';
import { type CopiedDatabase, copyDatabase } from '../contracts/template-database.ts';

export type RealServer = {
  /** An own database, empty. */
  copy(): Promise<CopiedDatabase>;
  stop(): Promise<void>;
};

/** Said wherever one is used: which of two calls of one instant comes first is its own affair. */
export const NOT_REPLAYABLE = 'on a real PostgreSQL: not replayable to the bit';

const STOP_MS = 10_000;
/** Statements that ask for the time of the database are given that of the world. */
const CLOCK = `
  CREATE SCHEMA simulated;
  CREATE TABLE simulated.clock (now_ms bigint NOT NULL);
  INSERT INTO simulated.clock VALUES (0);
  CREATE FUNCTION simulated.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql
    AS 'SELECT pg_catalog.to_timestamp(now_ms / 1000.0) FROM simulated.clock';
  CREATE FUNCTION simulated.now() RETURNS timestamptz VOLATILE LANGUAGE sql
    AS 'SELECT simulated.clock_timestamp()';
`;

/** Starts the server that quick start embeds, in a folder of its own. */
export async function startRealServer(): Promise<RealServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'simulation-'));
  // The server may run as another user, who must be able to enter.
  chmodSync(dataDir, 0o711);
  const { signal } = new AbortController();
  const server = await createPostgresLauncher({ dataDir, logger: silentLogger }).start(signal);
  const { url } = server.endpoint;
  const pool = new pg.Pool({ connectionString: url });
  const analytics = () => Promise.reject(new Error('only PostgreSQL is here'));
  const applied = await applyMigrations({ pool, analytics, only: ['relational'] });
  if (!applied.ok) throw new Error(JSON.stringify(applied));
  await pool.query(CLOCK);
  await pool.end();
  return {
    async copy() {
      const copied = await copyDatabase(url);
      await settle(copied.url);
      return copied;
    },
    async stop() {
      await server.stop(STOP_MS);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A copy lives as long as its run: nothing of it has to outlive a power cut. */
async function settle(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`ALTER DATABASE ${name} SET search_path = simulated, pg_catalog, public`);
  await client.query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
  await client.end();
}
