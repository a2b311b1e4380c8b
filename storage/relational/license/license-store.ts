// The license in its one row. The largest time seen only grows, but for an import that begins it anew. decision: D33
import { type Kysely, type Selectable, sql } from 'kysely';
import {
  auditOfImport,
  type LicenseRow,
  type LicenseStore,
} from '../../ports/license/license-store.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import type { LicenseStateTable } from './tables.ts';

/** Makes the store. */
export function createLicenseStore(db: Kysely<Database>): LicenseStore {
  return {
    async observe({ nowMs, seenMs, revision }) {
      const row = await orUnavailable(() =>
        db
          .updateTable('license_state')
          .set({
            seen_ms: sql<number>`GREATEST(seen_ms, ${nowMs}::bigint,
              CASE WHEN revision = ${revision} THEN ${seenMs}::bigint ELSE 0 END)`,
          })
          .returningAll()
          .executeTakeFirstOrThrow(),
      );
      return rowOf(row);
    },
    put: (input) =>
      orUnavailable(() =>
        db.transaction().execute(async (trx) => {
          const row = await trx
            .updateTable('license_state')
            .set({
              revision: input.revision + 1,
              envelope: input.envelope,
              imported_at_ms: input.nowMs,
              imported_by: storableText(input.actor),
              seen_ms: input.seenMs,
            })
            .where('revision', '=', input.revision)
            .returningAll()
            .executeTakeFirst();
          if (row === undefined) return null;
          await appendAudit(trx, [auditOfImport(input)]);
          return rowOf(row);
        }),
      ),
  };
}

function rowOf(row: Selectable<LicenseStateTable>): LicenseRow {
  const { revision, envelope, imported_at_ms: importedAtMs, seen_ms: seenMs } = row;
  const license =
    envelope === null || importedAtMs === null
      ? null
      : { envelope, importedAtMs, importedBy: row.imported_by ?? '' };
  return { revision, license, seenMs };
}
