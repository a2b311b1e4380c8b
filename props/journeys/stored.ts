// What really lies in the two stores, asked from them directly and not through the Console.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import pg from 'pg';
import { POSTGRES_USER } from '../../storage/embedded/postgres-query.ts';
import type { Home } from './programs.ts';

export type Batch = {
  readonly stream_id: string;
  readonly channel: string;
  readonly sequence: number;
  /** Nanoseconds since the epoch. */
  readonly first_ns: bigint;
  readonly last_ns: bigint;
};
type ClickhouseAccess = {
  readonly url: string;
  readonly username: string;
  readonly password: string;
};

/** The access of a home's embedded ClickHouse. */
export function embeddedClickhouse(home: Home): ClickhouseAccess {
  const { port, username, password } = readSecret(home, 'clickhouse.json');
  return {
    url: `http://127.0.0.1:${port}`,
    username: String(username),
    password: String(password),
  };
}

/** The address of a home's embedded PostgreSQL. */
export function embeddedPostgres(home: Home): string {
  const { port, password } = readSecret(home, 'postgres.json');
  return `postgres://${POSTGRES_USER}:${password}@127.0.0.1:${port}/service`;
}

/** Rows of one question to ClickHouse; 64-bit numbers come as text. */
export async function askClickhouse<T>(
  access: ClickhouseAccess,
  query: string,
  parameters: Readonly<Record<string, unknown>> = {},
): Promise<T[]> {
  const client = createClient({
    ...access,
    clickhouse_settings: { output_format_json_quote_64bit_integers: 1 },
  });
  try {
    const answer = await client.query({
      query,
      query_params: { ...parameters },
      format: 'JSONEachRow',
    });
    return await answer.json<T>();
  } finally {
    await client.close();
  }
}

/** Every stored batch of a sensor, by stream, channel and number. */
export async function batchesOf(access: ClickhouseAccess, sensorId: string): Promise<Batch[]> {
  type Row = Record<'stream_id' | 'channel' | 'sequence' | 'first_ns' | 'last_ns', string>;
  const rows = await askClickhouse<Row>(
    access,
    `SELECT stream_id, channel, sequence,
       toUnixTimestamp64Nano(min(observed_at)) AS first_ns,
       toUnixTimestamp64Nano(max(observed_at)) AS last_ns
     FROM runtime_events WHERE sensor_id = {sensor_id: String}
     GROUP BY stream_id, channel, sequence ORDER BY stream_id, channel, sequence`,
    { sensor_id: sensorId },
  );
  return rows.map((row) => ({
    stream_id: row.stream_id,
    channel: row.channel,
    sequence: Number(row.sequence),
    first_ns: BigInt(row.first_ns),
    last_ns: BigInt(row.last_ns),
  }));
}

/** The tolerance that I6 states: on a busy machine an engine's line may come that much later than what it tells of. */
const TOLD_LATE_NS = 2_000_000_000n;
/**
 * What breaks the order of batches: a missing number, or a batch that begins well before the one below it ended. An engine
 * tells a connect with the time at which it began, once its port is known. `behindMs` is what the machine was behind.
 */
export function disorderOf(batches: readonly Batch[], behindMs = 0): string[] {
  const late = TOLD_LATE_NS + BigInt(Math.ceil(behindMs)) * 1_000_000n;
  const wrong: string[] = [];
  const byChannel = Map.groupBy(batches, ({ stream_id, channel }) => `${stream_id}/${channel}`);
  for (const [name, own] of byChannel) {
    for (const [at, batch] of own.entries()) {
      if (batch.sequence !== at + 1) wrong.push(`${name}: ${batch.sequence} stands at ${at + 1}`);
      const before = own[at - 1];
      if (before !== undefined && batch.first_ns + late < before.last_ns) {
        const backMs = Number(before.last_ns - batch.first_ns) / 1e6;
        wrong.push(`${name}: ${batch.sequence} goes back by ${backMs} ms`);
      }
    }
  }
  return wrong;
}

/** The tables of PostgreSQL in which a text occurs in any column. */
async function tablesWith(postgresUrl: string, text: string): Promise<string[]> {
  return withPostgres(postgresUrl, async (client) => {
    const tables = await client.query<{ name: string }>(
      `SELECT quote_ident(table_schema) || '.' || quote_ident(table_name) AS name
       FROM information_schema.tables
       WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
    );
    if (tables.rows.length === 0) throw new Error('PostgreSQL has no tables');
    const found: string[] = [];
    for (const { name } of tables.rows) {
      const rows = await client.query(
        `SELECT 1 FROM ${name} AS t WHERE position($1 in t::text) > 0 LIMIT 1`,
        [text],
      );
      if (rows.rowCount !== 0) found.push(name);
    }
    return found;
  });
}

/**
 * The tables of PostgreSQL that hold something of the events of a word. What is usual for a program is inventory, which
 * names programs and may hold the word; an event has an id, and that is nowhere. invariant: I15
 */
export async function tablesWithEvents(
  postgresUrl: string,
  access: ClickhouseAccess,
  word: string,
): Promise<string[]> {
  const [event] = await askClickhouse<{ id: string }>(
    access,
    'SELECT event_id AS id FROM runtime_events WHERE position(process.binary, {word: String}) > 0 LIMIT 1',
    { word },
  );
  if (event === undefined) throw new Error(`no event of ${word} is stored`);
  const named = await tablesWith(postgresUrl, word);
  const told = await tablesWith(postgresUrl, event.id);
  return [...named.filter((table) => table !== 'public.inventory_sections'), ...told];
}

/** Rows of one question to PostgreSQL. */
export function askPostgres<T extends pg.QueryResultRow>(
  postgresUrl: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<T[]> {
  return withPostgres(
    postgresUrl,
    async (client) => (await client.query<T>(text, [...values])).rows,
  );
}

async function withPostgres<T>(url: string, ask: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await ask(client);
  } finally {
    await client.end();
  }
}

function readSecret(home: Home, name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(home.consoleDir, 'embedded', name), 'utf8'));
}
