// A PostgreSQL database of one's own, as a copy of one that has the tables already.
import { randomUUID } from 'node:crypto';
import pg from 'pg';

export type CopiedDatabase = {
  readonly url: string;
  /** Removes it, whoever is still connected. */
  drop(): Promise<void>;
};

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
