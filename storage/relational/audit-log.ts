// Append-only audit rows, alone or inside the transaction of the action they tell about.
import type { Kysely, Transaction } from 'kysely';
import type { AuditEntry, AuditLog } from '../ports/relational.ts';
import { storableText } from '../ports/stored-text.ts';
import type { Database } from './tables.ts';
import { orUnavailable } from './unavailable.ts';

/** Makes the audit log. */
export function createAuditLog(db: Kysely<Database>): AuditLog {
  return {
    append: (entries) => orUnavailable(() => appendAudit(db, entries)),
    async recent(limit) {
      const rows = await orUnavailable(() =>
        db
          .selectFrom('audit_records')
          .selectAll()
          .orderBy('audit_id', 'desc')
          .limit(limit)
          .execute(),
      );
      return rows.map((row) => ({
        atMs: row.at_ms,
        actor: row.actor,
        action: row.action,
        target: row.target,
        result: row.result,
        detail: row.detail,
      }));
    },
  };
}

/** Writes audit rows on a connection or inside a transaction. */
export async function appendAudit(
  on: Kysely<Database> | Transaction<Database>,
  entries: readonly AuditEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  await on
    .insertInto('audit_records')
    .values(
      entries.map((entry) => ({
        at_ms: entry.atMs,
        actor: storableText(entry.actor),
        action: entry.action,
        target: storableText(entry.target),
        result: entry.result,
        detail: JSON.stringify(entry.detail),
      })),
    )
    .execute();
}
