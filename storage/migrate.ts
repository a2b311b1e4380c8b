// One small runner for the migrations of both stores: numbered SQL files, recorded in PostgreSQL with a checksum, under
// PostgreSQL's advisory lock, so that replicas that start together run each file once. A file that changed after it was
// applied and a database that is newer than this code are refused before anything runs. A PostgreSQL file and its record
// are one transaction; ClickHouse has none, so its statements may run again (IF NOT EXISTS).
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { STARTUP_STEP_TIMEOUT_MS } from '../machines/limits.ts';

export type StoreName = 'relational' | 'analytics';
export type Migration = {
  readonly store: StoreName;
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
  readonly sql: string;
};

export type MigrationRefusal = {
  readonly ok: false;
  readonly reason: 'changed_after_applied' | 'database_is_newer' | 'out_of_order';
  readonly detail: string;
};
export type MigrationOutcome =
  | { readonly ok: true; readonly steps: readonly Pick<Migration, 'store' | 'number' | 'name'>[] }
  | MigrationRefusal;

export type MigrationStores = {
  readonly pool: pg.Pool;
  /** Runs one statement in the analytics store. */
  readonly analytics: (statement: string) => Promise<void>;
  /** The files of this code unless told. */
  readonly migrations?: readonly Migration[];
  /** Only these stores; both unless told. The Console's start opens one after the other. */
  readonly only?: readonly StoreName[];
};

type Applied = {
  readonly store: string;
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
};

const ADVISORY_LOCK = 7_210_154_830;
const FILE_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/;
const STORES: readonly StoreName[] = ['relational', 'analytics'];

/** Reads the migrations that ship with this code, in the order they run. */
export async function readMigrations(
  folder: string = fileURLToPath(new URL('.', import.meta.url)),
): Promise<readonly Migration[]> {
  const found: Migration[] = [];
  for (const store of STORES) {
    const from = `${folder}/${store}/migrations`;
    for (const file of (await readdir(from)).sort()) {
      const match = FILE_NAME.exec(file);
      if (match === null) throw new Error(`not the name of a migration: ${store}/${file}`);
      found.push(
        migrationOf(
          store,
          Number(match[1]),
          match[2] ?? '',
          await readFile(`${from}/${file}`, 'utf8'),
        ),
      );
    }
  }
  return found;
}

/** Makes a migration of a text; its checksum is over the text alone. */
export function migrationOf(
  store: StoreName,
  number: number,
  name: string,
  sql: string,
): Migration {
  return { store, number, name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
}

/** What would run, or why it may not. Changes nothing. */
export async function planMigrations(stores: MigrationStores): Promise<MigrationOutcome> {
  const wanted = stores.migrations ?? (await readMigrations());
  const { rows } = await stores.pool.query<{ known: boolean }>(
    `SELECT to_regclass('schema_migrations') IS NOT NULL AS known`,
  );
  return plan(wanted, rows[0]?.known === true ? await readApplied(stores.pool) : [], stores.only);
}

/** Applies what is missing. Safe to call from several replicas at once and again after a crash. */
export async function applyMigrations(stores: MigrationStores): Promise<MigrationOutcome> {
  const wanted = stores.migrations ?? (await readMigrations());
  const client = await stores.pool.connect();
  try {
    await client.query(`SET statement_timeout = ${STARTUP_STEP_TIMEOUT_MS}`);
    await client.query(`SET lock_timeout = ${STARTUP_STEP_TIMEOUT_MS}`);
    await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCK]);
    await client.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
      store text NOT NULL, number integer NOT NULL, name text NOT NULL, checksum text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (store, number))`);
    const planned = plan(wanted, await readApplied(client), stores.only);
    if (!planned.ok) return planned;
    for (const step of planned.steps) {
      if (step.store === 'relational') await applyRelational(client, step);
      else await applyAnalytics(client, step, stores.analytics);
    }
    return planned;
  } finally {
    // The session's settings and its lock end with the connection.
    client.release(true);
  }
}

type Planned = { readonly ok: true; readonly steps: readonly Migration[] } | MigrationRefusal;

function plan(
  wanted: readonly Migration[],
  applied: readonly Applied[],
  only: readonly StoreName[] = STORES,
): Planned {
  const steps: Migration[] = [];
  for (const store of only) {
    const own = wanted.filter((one) => one.store === store);
    const done = new Map(applied.filter((one) => one.store === store).map((x) => [x.number, x]));
    const newest = Math.max(0, ...done.keys());
    const unknown = [...done.values()].find((x) => !own.some((one) => one.number === x.number));
    if (unknown !== undefined) {
      return refuse('database_is_newer', `${nameOf(unknown)} is applied but unknown to this code`);
    }
    for (const one of own) {
      const record = done.get(one.number);
      if (record === undefined && one.number < newest) {
        return refuse('out_of_order', `${nameOf(one)} is older than what is applied`);
      }
      if (record !== undefined && record.checksum !== one.checksum) {
        return refuse('changed_after_applied', `${nameOf(one)} was changed after it was applied`);
      }
      if (record === undefined) steps.push(one);
    }
  }
  return { ok: true, steps };
}

function refuse(reason: MigrationRefusal['reason'], detail: string): MigrationRefusal {
  return { ok: false, reason, detail };
}

function nameOf(one: Pick<Applied, 'store' | 'number' | 'name'>): string {
  return `${one.store}/${String(one.number).padStart(4, '0')}_${one.name}`;
}

async function readApplied(on: pg.Pool | pg.PoolClient): Promise<readonly Applied[]> {
  const { rows } = await on.query<Applied>(
    'SELECT store, number, name, checksum FROM schema_migrations ORDER BY store, number',
  );
  return rows;
}

async function applyRelational(client: pg.PoolClient, step: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(step.sql);
    await record(client, step);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

async function applyAnalytics(
  client: pg.PoolClient,
  step: Migration,
  run: (statement: string) => Promise<void>,
): Promise<void> {
  for (const statement of statementsOf(step.sql)) await run(statement);
  await record(client, step);
}

/** Statements end with a line that holds only `;`. */
export function statementsOf(sql: string): readonly string[] {
  return sql
    .split(/^;[ \t]*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement.replace(/^--.*$/gm, '').trim() !== '');
}

async function record(client: pg.PoolClient, step: Migration): Promise<void> {
  await client.query(
    'INSERT INTO schema_migrations (store, number, name, checksum) VALUES ($1, $2, $3, $4)',
    [step.store, step.number, step.name, step.checksum],
  );
}
