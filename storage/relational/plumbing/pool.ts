// The one pool to PostgreSQL. Every wait has an end (connect, statement, lock), bigint comes back as number (all our
// bigints are milliseconds or counts), a lost connection is logged instead of ending the process, and one that gave no
// answer in time is not used again: it may be dead without having said so.
import {
  Kysely,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely';
import pg from 'pg';
import {
  DATABASE_CONNECT_TIMEOUT_MS,
  DATABASE_CONNECTIONS_MAX,
  DATABASE_LOCK_TIMEOUT_MS,
  DATABASE_TIMEOUT_MS,
} from '../../../machines/limits.ts';
import type { Logger } from '../../ports/plumbing/logger.ts';
import type { Sockets } from './sockets.ts';
import type { Database } from './tables.ts';
import { isUnavailable } from './unavailable.ts';

const APPLICATION_NAME = 'service-console';
const BIGINT_OID = 20;

const numbersForBigints: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === BIGINT_OID && format !== 'binary') return Number;
    return pg.types.getTypeParser(oid, format);
  },
};

/** Connection options every connection of the Console shares. */
export function connectionOptions(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: APPLICATION_NAME,
    connectionTimeoutMillis: DATABASE_CONNECT_TIMEOUT_MS,
    statement_timeout: DATABASE_TIMEOUT_MS,
    lock_timeout: DATABASE_LOCK_TIMEOUT_MS,
    // The server's own time-out comes first; this one ends the wait when the server says nothing at all.
    query_timeout: DATABASE_TIMEOUT_MS + DATABASE_CONNECT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: DATABASE_TIMEOUT_MS,
    keepAlive: true,
    types: numbersForBigints,
  };
}

/** Makes the pool; it connects lazily. Its connections use the sockets that are handed in. */
export function createPool(url: string, logger: Logger, sockets: Sockets): pg.Pool {
  const pool = new pg.Pool({
    ...connectionOptions(url),
    stream: sockets.open,
    max: DATABASE_CONNECTIONS_MAX,
  });
  // The pool listens to idle connections only; one that is lost while it is lent out would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', (error) => {
      logger.warn({ error: error.message }, 'a database connection was lost');
    });
  });
  return pool;
}

/** The typed query builder on a pool. Closing the pool closes it. */
export function createDatabase(pool: pg.Pool): Kysely<Database> {
  const lending = {
    options: pool.options,
    end: () => pool.end(),
    connect: async () => lend(await pool.connect()),
  };
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool: lending }) });
}

/** A connection that is thrown away on its return when it failed to answer. */
function lend(client: pg.PoolClient): PostgresPoolClient {
  let isSuspect = false;
  function query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  function query(text: unknown, values: readonly unknown[] = []): unknown {
    if (typeof text !== 'string') throw new Error('cursors are not used');
    return client.query(text, [...values]).catch((error: unknown) => {
      // A refusal with a code came from the server: the connection works.
      const isAnswer = error instanceof pg.DatabaseError;
      if (!isAnswer && isUnavailable(error)) isSuspect = true;
      throw error;
    });
  }
  return { query, release: (destroy) => client.release(destroy === true || isSuspect) };
}
