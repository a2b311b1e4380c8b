// Tries a ClickHouse: it answers, knows this user, and lets it make tables.
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { SETUP_CONNECT_TIMEOUT_MS } from '../../machines/limits.ts';
import { type ConnectionResult, reasonWithout } from '../ports/plumbing/connection-tests.ts';
import type { AnalyticsAccess } from './client.ts';

const PROBE_TABLE = 'service_console_connection_test';

/** Asks for the version and makes a table that is dropped again. */
export async function tryAnalytics(access: AnalyticsAccess): Promise<ConnectionResult> {
  const { url, username = 'default', password = '' } = access;
  const client = createClient({
    ...{ url, username, password },
    application: 'service-console',
    request_timeout: SETUP_CONNECT_TIMEOUT_MS,
    log: { level: ClickHouseLogLevel.OFF },
  });
  try {
    const answer = await client.query({ query: 'SELECT version() AS version', format: 'JSON' });
    const { data } = await answer.json<{ readonly version: string }>();
    const version = data[0]?.version;
    if (version === undefined) return { ok: false, reason: 'this is no ClickHouse' };
    await client.command({
      query: `CREATE TABLE IF NOT EXISTS ${PROBE_TABLE} (one UInt8) ENGINE = MergeTree ORDER BY one`,
    });
    await client.command({ query: `DROP TABLE IF EXISTS ${PROBE_TABLE}` });
    return { ok: true, about: `ClickHouse ${version}` };
  } catch (error) {
    const secret = new URL(url);
    secret.password = password;
    return { ok: false, reason: reasonWithout(secret.toString(), error) };
  } finally {
    await client.close().catch(() => undefined);
  }
}
