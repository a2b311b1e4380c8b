// Every contract of the relational ports on one PostgreSQL that outlives a mutant (postgres.ts), in a database of its own
// each time. `npm run test:services` runs the same contracts in props/contracts/embedded.services.test.ts.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { postgresContracts } from '../contracts/postgres-contracts.ts';
import { openRealRelational } from '../contracts/real-stores.ts';

const template = new URL(inject('templateUrl'));
const name = `mutant_${randomUUID().replaceAll('-', '')}`;
let control: Awaited<ReturnType<typeof openRealRelational>>;

/** One statement from a database that nobody copies. */
async function administer(statement: string): Promise<void> {
  const url = new URL(template);
  url.pathname = '/postgres';
  const client = new pg.Client({ connectionString: url.toString() });
  await client.connect();
  await client.query(statement);
  await client.end();
}

beforeAll(async () => {
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template.pathname.slice(1)}`);
  const url = new URL(template);
  url.pathname = `/${name}`;
  control = await openRealRelational(url.toString());
});
afterAll(async () => {
  await control?.close();
  await administer(`DROP DATABASE ${name} WITH (FORCE)`);
});

describe('relational ports on PostgreSQL', () => {
  postgresContracts(() => control);
});
