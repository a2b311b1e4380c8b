// Tries a PostgreSQL: it answers, is new enough, and lets this user make tables.
import pg from 'pg';
import { POSTGRESQL_VERSION_MIN, SETUP_CONNECT_TIMEOUT_MS } from '../../../machines/limits.ts';
import { type ConnectionResult, reasonWithout } from '../../ports/plumbing/connection-tests.ts';
import { connectionOptions } from './pool.ts';
import { createSockets } from './sockets.ts';

const PROBE_TABLE = 'service_console_connection_test';

/** Connects once; nothing stays behind. */
export async function tryRelational(url: string): Promise<ConnectionResult> {
  const sockets = createSockets();
  const client = new pg.Client({
    ...connectionOptions(url),
    stream: sockets.open,
    connectionTimeoutMillis: SETUP_CONNECT_TIMEOUT_MS,
    query_timeout: SETUP_CONNECT_TIMEOUT_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ number: string; version: string }>(
      `SELECT current_setting('server_version_num') AS number,
        current_setting('server_version') AS version`,
    );
    const version = Math.floor(Number(rows[0]?.number) / 10_000);
    if (!(version >= POSTGRESQL_VERSION_MIN)) {
      const found = rows[0]?.version ?? 'unknown';
      return {
        ok: false,
        reason: `version ${found} is too old; ${POSTGRESQL_VERSION_MIN} or newer is needed`,
      };
    }
    await client.query('BEGIN');
    await client.query(`CREATE TABLE ${PROBE_TABLE} (one integer PRIMARY KEY)`);
    await client.query('ROLLBACK');
    await client.end();
    return { ok: true, about: `PostgreSQL ${rows[0]?.version ?? version}` };
  } catch (error) {
    return { ok: false, reason: reasonWithout(url, error) };
  } finally {
    sockets.destroyAll();
  }
}
