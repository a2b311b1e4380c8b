// The PostgreSQL of runs on a real one: one server, one database with the tables of today and a clock that the world sets,
// and a copy of it for every run.
import pg from 'pg';
import {
  type CopiedDatabase,
  copyDatabase,
  startTemplateServer,
} from '../contracts/template-database.ts';

export type RealServer = {
  /** An own database, empty. */
  copy(): Promise<CopiedDatabase>;
  stop(): Promise<void>;
};

/** Said wherever one is used: which of two calls of one instant comes first is its own affair. */
export const NOT_REPLAYABLE = 'on a real PostgreSQL: not replayable to the bit';

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

/** Starts one server for any number of runs. */
export async function startRealServer(): Promise<RealServer> {
  const { url, stop } = await startTemplateServer();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(CLOCK);
  await client.end();
  return {
    async copy() {
      const copied = await copyDatabase(url);
      await settle(copied.url);
      return copied;
    },
    stop,
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
