// Short questions to the embedded PostgreSQL, each over a connection of its own. decision: D7
import pg from 'pg';
import type { PostgresEndpoint } from './store-launcher.ts';

const ANSWER_TIMEOUT_MS = 2_000;
const DATABASE = 'service';
export const POSTGRES_USER = 'service';

export type PostgresSecret = { readonly port: number; readonly password: string };

/** Whether the server answers this password: only our own can. Never rejects. */
export async function answers(secret: PostgresSecret): Promise<boolean> {
  return ask(secret, 'postgres', 'SELECT 1').then(
    () => true,
    () => false,
  );
}

/** Makes the service's database when it is absent. */
export async function ensureDatabase(secret: PostgresSecret): Promise<void> {
  const found = await ask(
    secret,
    'postgres',
    `SELECT 1 FROM pg_database WHERE datname = '${DATABASE}'`,
  );
  if (found === 0) await ask(secret, 'postgres', `CREATE DATABASE ${DATABASE}`);
}

export function endpointOf(secret: PostgresSecret): PostgresEndpoint {
  return { url: urlOf(secret, DATABASE), port: secret.port };
}

async function ask(secret: PostgresSecret, database: string, sql: string): Promise<number> {
  const client = new pg.Client({
    connectionString: urlOf(secret, database),
    connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(sql)).rowCount ?? 0;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function urlOf({ port, password }: PostgresSecret, database: string): string {
  return `postgres://${POSTGRES_USER}:${password}@127.0.0.1:${port}/${database}`;
}
