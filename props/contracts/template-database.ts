// A PostgreSQL database of one's own, as a copy of one that has the tables already.
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createPostgresLauncher } from '../../storage/embedded/postgres.ts';
import { applyMigrations } from '../../storage/migrate.ts';
import { silentLogger } from './real-stores.ts';

const STOP_MS = 10_000;

export type CopiedDatabase = {
  readonly url: string;
  /** Removes it, whoever is still connected. */
  drop(): Promise<void>;
};

/** Starts the server that quick start embeds, in a folder of its own; `url` is a database with the tables of today. */
export async function startTemplateServer(): Promise<{
  readonly url: string;
  stop(): Promise<void>;
}> {
  const dataDir = mkdtempSync(join(tmpdir(), 'template-'));
  // The server may run as another user, who must be able to enter.
  chmodSync(dataDir, 0o711);
  const { signal } = new AbortController();
  const server = await createPostgresLauncher({ dataDir, logger: silentLogger }).start(signal);
  const { url } = server.endpoint;
  const pool = new pg.Pool({ connectionString: url });
  const analytics = () => Promise.reject(new Error('only PostgreSQL is here'));
  const applied = await applyMigrations({ pool, analytics, only: ['relational'] });
  if (!applied.ok) throw new Error(JSON.stringify(applied));
  await pool.end();
  return {
    url,
    async stop() {
      await server.stop(STOP_MS);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Copies the database that a URL names; nobody may be connected to that one meanwhile. */
export async function copyDatabase(templateUrl: string): Promise<CopiedDatabase> {
  const template = new URL(templateUrl);
  const name = `copy_${randomUUID().replaceAll('-', '')}`;
  await administer(template, `CREATE DATABASE ${name} TEMPLATE ${template.pathname.slice(1)}`);
  return {
    url: at(template, name),
    drop: () => administer(template, `DROP DATABASE ${name} WITH (FORCE)`),
  };
}

function at(template: URL, name: string): string {
  const url = new URL(template);
  url.pathname = `/${name}`;
  return url.toString();
}

/** One statement from a database that nobody copies. */
async function administer(template: URL, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: at(template, 'postgres') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
