// Every contract of the relational ports on one PostgreSQL that outlives a mutant (postgres.ts), in a database of its own
// each time. `npm run test:services` runs the same contracts in props/contracts/embedded.services.test.ts.
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { postgresContracts } from '../contracts/postgres-contracts.ts';
import { openRealRelational } from '../contracts/real-stores.ts';
import { type CopiedDatabase, copyDatabase } from '../contracts/template-database.ts';

let copy: CopiedDatabase;
let control: Awaited<ReturnType<typeof openRealRelational>>;

beforeAll(async () => {
  copy = await copyDatabase(inject('templateUrl'));
  control = await openRealRelational(copy.url);
});
afterAll(async () => {
  await control?.close();
  await copy?.drop();
});

describe('relational ports on PostgreSQL', () => {
  postgresContracts(() => control);
});
