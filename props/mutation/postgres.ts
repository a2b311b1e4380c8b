// One embedded PostgreSQL for all mutants of storage/relational: a start for each would cost more than the contracts.
import type { TestProject } from 'vitest/node';
import { startTemplateServer } from '../contracts/template-database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A database with the tables of today, to copy. */
    templateUrl: string;
  }
}

export default async function startPostgres(project: TestProject): Promise<() => Promise<void>> {
  const { url, stop } = await startTemplateServer();
  project.provide('templateUrl', url);
  return stop;
}
