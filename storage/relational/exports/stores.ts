// The stores of exports in PostgreSQL.
import type { ExportStores } from '../../ports/exports/stores.ts';
import type { RelationalContext } from '../plumbing/context.ts';
import { createExportStore } from './export-store.ts';

/** Opens every store of this capability. */
export function openExportStores({ db }: RelationalContext): ExportStores {
  return { exports: createExportStore(db) };
}
