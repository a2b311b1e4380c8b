// Hunting's documents in PostgreSQL, all kinds in one table. invariant: I15, I18; decision: D60, D144
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type {
  DocumentStore,
  DocumentWrite,
  HuntingDocument,
} from '../../ports/hunting/document-store.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import { holdFence } from '../runtime/fence.ts';
import type { DocumentKind, HuntingDocumentsTable } from './tables.ts';

type Written<T> = { readonly told: T; readonly isDone: boolean };

const ADD_LOCK = 7_210_154_843;

/** Makes the store of one kind; the bodies are what its own writers put there. */
export function createDocumentStore<Body>(
  db: Kysely<Database>,
  kind: DocumentKind,
): DocumentStore<Body> {
  const written = <T>(
    input: DocumentWrite,
    run: (trx: Transaction<Database>) => Promise<Written<T>>,
  ): Promise<T> =>
    orUnavailable(() =>
      db.transaction().execute(async (trx) => {
        await holdFence(trx, input.epoch);
        const { told, isDone } = await run(trx);
        if (isDone && input.audit !== undefined) await appendAudit(trx, [input.audit]);
        return told;
      }),
    );
  return {
    async list({ parentId, limit, before }) {
      let page = db
        .selectFrom('hunting_documents')
        .selectAll()
        .where('kind', '=', kind)
        .orderBy('id', 'desc')
        .limit(limit);
      if (parentId !== undefined) page = page.where('parent_id', '=', storableText(parentId));
      if (before !== null) page = page.where('id', '<', storableText(before));
      return (await orUnavailable(() => page.execute())).map(documentOf<Body>);
    },
    async get(id) {
      const row = await orUnavailable(() =>
        db
          .selectFrom('hunting_documents')
          .selectAll()
          .where('kind', '=', kind)
          .where('id', '=', storableText(id))
          .executeTakeFirst(),
      );
      return row === undefined ? null : documentOf<Body>(row);
    },
    add: (input) => written(input, (trx) => add<Body>(trx, kind, input)),
    change: (input) => written(input, (trx) => change<Body>(trx, kind, input)),
    remove: (input) =>
      written(input, async (trx) => {
        const { numDeletedRows } = await trx
          .deleteFrom('hunting_documents')
          .where('kind', '=', kind)
          .where('id', '=', storableText(input.id))
          .executeTakeFirst();
        const isDone = numDeletedRows === 1n;
        return { told: isDone, isDone };
      }),
  };
}

async function add<Body>(
  trx: Transaction<Database>,
  kind: DocumentKind,
  input: Parameters<DocumentStore<Body>['add']>[0],
): Promise<Written<HuntingDocument<Body> | 'full' | 'orphan'>> {
  const { parentId = null, nowMs } = input;
  // Those who add wait for each other here, so that there are never more than there may be.
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(ADD_LOCK)})`.execute(trx);
  if (parentId !== null) {
    const parent = await trx
      .selectFrom('hunting_documents')
      .select('id')
      .where('id', '=', storableText(parentId))
      .forKeyShare()
      .executeTakeFirst();
    if (parent === undefined) return { told: 'orphan', isDone: false };
  }
  let counted = trx
    .selectFrom('hunting_documents')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('kind', '=', kind);
  if (parentId !== null) counted = counted.where('parent_id', '=', storableText(parentId));
  const { count } = await counted.executeTakeFirstOrThrow();
  if (Number(count) >= input.max) return { told: 'full', isDone: false };
  const row = await trx
    .insertInto('hunting_documents')
    .values({
      ...{ id: storableText(input.id), kind, parent_id: parentId },
      body: JSON.stringify(input.body),
      ...{ created_at_ms: nowMs, changed_at_ms: nowMs, revision: 1 },
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { told: documentOf<Body>(row), isDone: true };
}

async function change<Body>(
  trx: Transaction<Database>,
  kind: DocumentKind,
  input: Parameters<DocumentStore<Body>['change']>[0],
): Promise<Written<HuntingDocument<Body> | 'not_found' | 'conflict'>> {
  const id = storableText(input.id);
  const row = await trx
    .selectFrom('hunting_documents')
    .select('revision')
    .where('kind', '=', kind)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) return { told: 'not_found', isDone: false };
  if (row.revision !== input.revision) return { told: 'conflict', isDone: false };
  const changed = await trx
    .updateTable('hunting_documents')
    .set({
      body: JSON.stringify(input.body),
      ...{ changed_at_ms: input.nowMs, revision: row.revision + 1 },
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { told: documentOf<Body>(changed), isDone: true };
}

function documentOf<Body>(row: Selectable<HuntingDocumentsTable>): HuntingDocument<Body> {
  return {
    id: row.id,
    parentId: row.parent_id,
    body: row.body as Body,
    createdAtMs: row.created_at_ms,
    changedAtMs: row.changed_at_ms,
    revision: row.revision,
  };
}
