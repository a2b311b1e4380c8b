// SIEM destinations in PostgreSQL. invariant: I11, I18; decision: D60, D153
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { siemAfter } from '../../../machines/console/siem/siem-standing.ts';
import { SIEM_DESTINATIONS_MAX } from '../../../machines/limits.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import {
  auditOfSiemChange,
  auditOfSiemCreate,
  auditOfSiemOrder,
  auditOfSiemRemoval,
} from '../../ports/siem/siem-audit.ts';
import type { SiemMove, SiemRow, SiemStore } from '../../ports/siem/siem-store.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import { holdFence } from '../runtime/fence.ts';
import type { SiemDestinationsTable } from './tables.ts';

const CREATE_LOCK = 7_210_154_855;

/** Makes the store. */
export function createSiemStore(db: Kysely<Database>): SiemStore {
  const transaction = <T>(run: (trx: Transaction<Database>) => Promise<T>): Promise<T> =>
    orUnavailable(() => db.transaction().execute(run));
  return {
    async list() {
      const rows = await orUnavailable(() =>
        db.selectFrom('siem_destinations').selectAll().orderBy('destination_id').execute(),
      );
      return rows.map(rowOf);
    },
    async get(destinationId) {
      const row = await orUnavailable(() =>
        db
          .selectFrom('siem_destinations')
          .selectAll()
          .where('destination_id', '=', storableText(destinationId))
          .executeTakeFirst(),
      );
      return row === undefined ? null : rowOf(row);
    },
    create: (input) => transaction((trx) => create(trx, input)),
    change: (input) => transaction((trx) => change(trx, input)),
    order: (input) =>
      transaction(async (trx) => {
        const moved = await moveOne(trx, input);
        if (moved === null) return 'not_found';
        await appendAudit(trx, [auditOfSiemOrder(input)]);
        return moved;
      }),
    remove: (input) =>
      transaction(async (trx) => {
        const row = await trx
          .deleteFrom('siem_destinations')
          .where('destination_id', '=', storableText(input.destinationId))
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) return false;
        await appendAudit(trx, [auditOfSiemRemoval(input, rowOf(row))]);
        return true;
      }),
    move: ({ epoch, moves }) =>
      transaction(async (trx) => {
        await holdFence(trx, epoch);
        for (const one of moves) await moveOne(trx, one);
      }),
    reseal: ({ destinationId, was, sealed }) =>
      orUnavailable(async () => {
        const { numUpdatedRows } = await db
          .updateTable('siem_destinations')
          .set({ secret_sealed: sealed })
          .where('destination_id', '=', storableText(destinationId))
          .where('secret_sealed', '=', was)
          .executeTakeFirst();
        return numUpdatedRows === 1n;
      }),
  };
}

/** Moves one as it is now; null when it is gone. */
export async function moveOne(
  trx: Transaction<Database>,
  { destinationId, event }: SiemMove,
): Promise<SiemRow | null> {
  const id = storableText(destinationId);
  const row = await trx
    .selectFrom('siem_destinations')
    .selectAll()
    .where('destination_id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) return null;
  const standing = siemAfter(row.standing, event);
  await trx
    .updateTable('siem_destinations')
    .set({ standing: JSON.stringify(standing) })
    .where('destination_id', '=', id)
    .execute();
  return { ...rowOf(row), standing };
}

async function create(
  trx: Transaction<Database>,
  input: Parameters<SiemStore['create']>[0],
): Promise<SiemRow | 'full' | 'conflict'> {
  // Those who add one wait for each other here, so that there are never more than there may be.
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(CREATE_LOCK)})`.execute(trx);
  const { destination, nowMs } = input;
  const names = await trx.selectFrom('siem_destinations').select('name').execute();
  const name = storableText(destination.name);
  const why =
    names.length >= SIEM_DESTINATIONS_MAX
      ? 'full'
      : names.some((one) => one.name === name)
        ? 'conflict'
        : null;
  if (why !== null) {
    await appendAudit(trx, [auditOfSiemCreate(input, why)]);
    return why;
  }
  const row = await trx
    .insertInto('siem_destinations')
    .values({
      destination_id: storableText(destination.destinationId),
      kind: destination.kind,
      name,
      target_url: storableText(destination.targetUrl),
      secret_sealed: destination.secretSealed,
      has_token: destination.hasToken,
      filter: storableText(destination.filter),
      options: JSON.stringify(destination.options),
      standing: JSON.stringify(destination.standing),
      created_at_ms: nowMs,
      changed_at_ms: nowMs,
      revision: 1,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await appendAudit(trx, [auditOfSiemCreate(input, 'ok')]);
  return rowOf(row);
}

async function change(
  trx: Transaction<Database>,
  input: Parameters<SiemStore['change']>[0],
): Promise<SiemRow | 'not_found' | 'conflict'> {
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(CREATE_LOCK)})`.execute(trx);
  const id = storableText(input.destinationId);
  const row = await trx
    .selectFrom('siem_destinations')
    .selectAll()
    .where('destination_id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) return 'not_found';
  const before = rowOf(row);
  const after: SiemRow = { ...before, ...input.patch };
  const name = storableText(after.name);
  const other = await trx
    .selectFrom('siem_destinations')
    .select('destination_id')
    .where('name', '=', name)
    .where('destination_id', '<>', id)
    .executeTakeFirst();
  if (row.revision !== input.revision || other !== undefined) return 'conflict';
  const changed = await trx
    .updateTable('siem_destinations')
    .set({
      ...{ name, target_url: storableText(after.targetUrl), secret_sealed: after.secretSealed },
      ...{ has_token: after.hasToken, filter: storableText(after.filter) },
      ...{ options: JSON.stringify(after.options), changed_at_ms: input.nowMs },
      revision: row.revision + 1,
    })
    .where('destination_id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await appendAudit(trx, [auditOfSiemChange(input, before, rowOf(changed))]);
  return rowOf(changed);
}

function rowOf(row: Selectable<SiemDestinationsTable>): SiemRow {
  return {
    destinationId: row.destination_id,
    kind: row.kind,
    name: row.name,
    targetUrl: row.target_url,
    secretSealed: row.secret_sealed,
    hasToken: row.has_token,
    filter: row.filter,
    options: row.options,
    standing: row.standing,
    createdAtMs: row.created_at_ms,
    changedAtMs: row.changed_at_ms,
    revision: row.revision,
  };
}
