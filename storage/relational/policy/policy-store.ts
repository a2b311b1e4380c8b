// The documents of policies in PostgreSQL. The row of the revision is taken first, so that two commits never both count.
// decision: D82
import { type Kysely, sql, type Transaction } from 'kysely';
import type {
  DocumentKind,
  PolicyChange,
  PolicyDocument,
} from '../../../machines/console/policy/book.rules.ts';
import { WRITTEN_ONCE } from '../../../machines/console/policy/book.rules.ts';
import type { PolicyStore } from '../../ports/policy/policy-store.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import { holdFence } from '../runtime/fence.ts';
import { insertMoves } from './rollout-store.ts';

/** Makes the store. */
export function createPolicyStore(db: Kysely<Database>): PolicyStore {
  return {
    load: () =>
      orUnavailable(() =>
        // One picture: a commit between two statements would give documents of another revision.
        db
          .transaction()
          .setIsolationLevel('repeatable read')
          .execute(async (trx) => {
            const { revision } = await trx
              .selectFrom('policy_state')
              .select('revision')
              .executeTakeFirstOrThrow();
            const rows = await trx
              .selectFrom('policy_documents')
              .select(['kind', 'id', 'head'])
              .orderBy('kind')
              .orderBy('id')
              .execute();
            return { revision, documents: rows as readonly PolicyDocument[] };
          }),
      ),
    async revision() {
      const row = await orUnavailable(() =>
        db.selectFrom('policy_state').select('revision').executeTakeFirstOrThrow(),
      );
      return row.revision;
    },
    async body(kind, id) {
      const row = await orUnavailable(() =>
        db
          .selectFrom('policy_documents')
          .select('body')
          .where('kind', '=', kind)
          .where('id', '=', id)
          .executeTakeFirst(),
      );
      return row?.body ?? null;
    },
    commit: (input) =>
      orUnavailable(() =>
        db.transaction().execute(async (trx) => {
          await holdFence(trx, input.epoch);
          const next = await trx
            .updateTable('policy_state')
            .set({ revision: input.revision + 1 })
            .where('revision', '=', input.revision)
            .returning('revision')
            .executeTakeFirst();
          if (next === undefined) return null;
          for (const change of input.changes) await apply(trx, change, input.nowMs);
          await insertMoves(trx, input.moves ?? []);
          if (input.audit.length > 0) await appendAudit(trx, [...input.audit]);
          return next.revision;
        }),
      ),
  };
}

async function apply(
  trx: Transaction<Database>,
  change: PolicyChange,
  nowMs: number,
): Promise<void> {
  const { kind, id } = change;
  if (change.head === null) {
    await trx
      .deleteFrom('policy_documents')
      .where('kind', '=', kind)
      .where('id', '=', id)
      .execute();
    return;
  }
  const head = JSON.stringify(change.head);
  const body = change.body === undefined ? null : JSON.stringify(change.body);
  const insert = trx
    .insertInto('policy_documents')
    .values({ kind: kind satisfies DocumentKind, id, head, body, changed_at_ms: nowMs });
  if (WRITTEN_ONCE.includes(kind)) {
    await insert.execute();
    return;
  }
  await insert
    .onConflict((row) =>
      row.columns(['kind', 'id']).doUpdateSet({
        head,
        body: sql`COALESCE(${body}::json, policy_documents.body)`,
        changed_at_ms: nowMs,
      }),
    )
    .execute();
}
