// Append-only audit rows, alone or inside the transaction of the action they tell about. Appending takes no lock and
// leaves place and hash open: the sealer gives them later. decision: D35
import {
  type Kysely,
  type Selectable,
  type SelectQueryBuilder,
  sql,
  type Transaction,
} from 'kysely';
import { storedEntry } from '../../ports/audit/audit-entries.ts';
import type { AuditEntry, AuditLog, AuditQuery, AuditRow } from '../../ports/audit/audit-log.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import type { AuditTable } from './tables.ts';

type Rows = SelectQueryBuilder<Database, 'audit_records', Selectable<AuditTable>>;

/** Makes the audit log. */
export function createAuditLog(db: Kysely<Database>): AuditLog {
  return {
    append: (entries) => orUnavailable(() => appendAudit(db, entries)),
    recent: (limit) => search(db, { order: 'newest', after: null, limit }),
    search: (query) => search(db, query),
  };
}

/** Writes audit rows on a connection or inside a transaction. */
export async function appendAudit(
  on: Kysely<Database> | Transaction<Database>,
  entries: readonly AuditEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  const rows = entries.map(storedEntry).map((entry) => ({
    at_ms: entry.atMs,
    actor: entry.actor,
    action: entry.action,
    target: entry.target,
    result: entry.result,
    detail: JSON.stringify(entry.detail),
    from_address: entry.from,
    before: entry.before === null ? null : JSON.stringify(entry.before),
    after: entry.after === null ? null : JSON.stringify(entry.after),
  }));
  await on.insertInto('audit_records').values(rows).execute();
}

/** A row as the port tells it. */
export function auditRowOf(row: Selectable<AuditTable>): AuditRow {
  return {
    auditId: row.audit_id,
    atMs: row.at_ms,
    actor: row.actor,
    action: row.action,
    target: row.target,
    result: row.result,
    detail: row.detail,
    from: row.from_address,
    before: row.before,
    after: row.after,
    sequence: row.sequence,
    hash: row.hash,
  };
}

async function search(db: Kysely<Database>, query: AuditQuery): Promise<readonly AuditRow[]> {
  const { after, order, limit } = query;
  if (order === 'newest') {
    const rows = matching(db, query).orderBy('audit_id', 'desc');
    return take(after === null ? rows : rows.where('audit_id', '<', after.auditId), limit);
  }
  if (after === null) {
    const rows = matching(db, query).orderBy(sql`sequence ASC NULLS LAST`).orderBy('audit_id');
    return take(rows, limit);
  }
  // Two questions, each on its own index. A row that is sealed between them is in neither answer: the chain read so far
  // just ends earlier.
  const sealed =
    after.sequence === null
      ? []
      : await take(
          matching(db, query).where('sequence', '>', after.sequence).orderBy('sequence'),
          limit,
        );
  if (sealed.length === limit) return sealed;
  const open = matching(db, query).where('sequence', 'is', null).orderBy('audit_id');
  const tail = after.sequence === null ? open.where('audit_id', '>', after.auditId) : open;
  return [...sealed, ...(await take(tail, limit - sealed.length))];
}

function matching(db: Kysely<Database>, query: AuditQuery): Rows {
  const { fromMs, toMs } = query;
  let rows = db.selectFrom('audit_records').selectAll();
  for (const name of ['actor', 'action', 'target', 'result'] as const) {
    const value = query[name];
    if (value !== undefined) rows = rows.where(name, '=', storableText(value));
  }
  if (fromMs !== undefined) rows = rows.where('at_ms', '>=', fromMs);
  return toMs === undefined ? rows : rows.where('at_ms', '<', toMs);
}

async function take(rows: Rows, limit: number): Promise<readonly AuditRow[]> {
  return (await orUnavailable(() => rows.limit(limit).execute())).map(auditRowOf);
}
