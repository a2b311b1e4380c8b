// Exports in PostgreSQL: one row for each day of a table, moved under the epoch of the Console that is designated.
// decision: D60, D157
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { ExportTable, TableDay } from '../../../machines/console/exports/export-run.rules.ts';
import {
  type ExportStanding,
  exportRunAfter,
  isActive,
  newExportRun,
} from '../../../machines/console/exports/standing.ts';
import { auditOfExportOrder, auditOfExportTarget } from '../../ports/exports/export-audit.ts';
import type {
  ExportObject,
  ExportRow,
  ExportStore,
  ExportTargetRow,
} from '../../ports/exports/export-store.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import { holdFence } from '../runtime/fence.ts';
import type { ExportRunsTable } from './tables.ts';

type Trx = Transaction<Database>;

/** Makes the store. */
export function createExportStore(db: Kysely<Database>): ExportStore {
  const transaction = <T>(run: (trx: Trx) => Promise<T>): Promise<T> =>
    orUnavailable(() => db.transaction().execute(run));
  const fenced = <T>(epoch: number, run: (trx: Trx) => Promise<T>): Promise<T> =>
    transaction(async (trx) => {
      await holdFence(trx, epoch);
      return run(trx);
    });
  return {
    target: () => orUnavailable(() => targetIn(db)),
    putTarget: (input) => transaction((trx) => putTarget(trx, input)),
    reseal: ({ was, sealed }) =>
      orUnavailable(async () => {
        const { numUpdatedRows } = await db
          .updateTable('export_target')
          .set({ secret_sealed: sealed })
          .where('secret_sealed', '=', was)
          .executeTakeFirst();
        return numUpdatedRows === 1n;
      }),
    plan: (input) => fenced(input.epoch, (trx) => plan(trx, input)),
    reclaim: (input) => fenced(input.epoch, (trx) => reclaim(trx, input)),
    claim: (input) => fenced(input.epoch, (trx) => claim(trx, input)),
    settle: (input) => fenced(input.epoch, (trx) => settle(trx, input)),
    list: (query) => orUnavailable(() => list(db, query)),
    get: (of) => orUnavailable(() => get(db, of)),
    order: (input) => transaction((trx) => order(trx, input)),
    async counts() {
      const rows = await orUnavailable(() =>
        db
          .selectFrom('export_runs')
          .select(({ fn }) => ['state', fn.countAll<number>().as('count')])
          .groupBy('state')
          .execute(),
      );
      return Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)]));
    },
    sweep: (input) => fenced(input.epoch, (trx) => sweep(trx, input)),
  };
}

async function targetIn(db: Kysely<Database> | Trx): Promise<ExportTargetRow | null> {
  const row = await db.selectFrom('export_target').selectAll().executeTakeFirst();
  if (row === undefined) return null;
  const { target, secret_sealed: secretSealed, changed_at_ms: changedAtMs, revision } = row;
  return { ...target, secretSealed, changedAtMs, revision };
}

async function putTarget(
  trx: Trx,
  input: Parameters<ExportStore['putTarget']>[0],
): Promise<ExportTargetRow | 'conflict'> {
  await sql`LOCK TABLE export_target IN SHARE ROW EXCLUSIVE MODE`.execute(trx);
  const before = await targetIn(trx);
  if ((before?.revision ?? 0) !== input.revision) return 'conflict';
  const { secretSealed, ...target } = input.target;
  const values = {
    target: JSON.stringify(target),
    secret_sealed: secretSealed,
    changed_at_ms: input.nowMs,
    revision: input.revision + 1,
  };
  await trx
    .insertInto('export_target')
    .values({ is_only: true, ...values })
    .onConflict((conflict) => conflict.column('is_only').doUpdateSet(values))
    .execute();
  await appendAudit(trx, [auditOfExportTarget(input, before, input.target)]);
  return { ...input.target, changedAtMs: input.nowMs, revision: input.revision + 1 };
}

async function plan(
  trx: Trx,
  { nowMs, days }: Parameters<ExportStore['plan']>[0],
): Promise<number> {
  const { first_day: firstDay } = await trx
    .selectFrom('export_horizon')
    .select('first_day')
    .executeTakeFirstOrThrow();
  const open = days.filter(({ day }) => day >= firstDay);
  if (open.length === 0) return 0;
  const written = await trx
    .insertInto('export_runs')
    .values(open.map((of) => valuesOf({ ...of, ...newExportRun(nowMs) }, null)))
    .onConflict((conflict) => conflict.doNothing())
    .returning('day')
    .execute();
  return written.length;
}

async function reclaim(
  trx: Trx,
  { epoch, nowMs }: Parameters<ExportStore['reclaim']>[0],
): Promise<number> {
  const lost = await trx
    .selectFrom('export_runs')
    .selectAll()
    .where('lease_epoch', 'is not', null)
    .where(({ eb, or }) => or([eb('lease_epoch', '!=', epoch), eb('lease_until_ms', '<=', nowMs)]))
    .forUpdate()
    .execute();
  for (const row of lost) {
    const run = rowOf(row);
    await write(trx, { ...run, ...exportRunAfter(run, { type: 'run.lost', atMs: nowMs }) }, null);
  }
  return lost.length;
}

async function claim(
  trx: Trx,
  { epoch, nowMs, leaseUntilMs }: Parameters<ExportStore['claim']>[0],
): Promise<ExportRow | null> {
  const own = await trx
    .selectFrom('export_runs')
    .selectAll()
    .where('lease_epoch', '=', epoch)
    .orderBy('due_at_ms')
    .limit(1)
    .forUpdate()
    .executeTakeFirst();
  const found =
    own ??
    (await trx
      .selectFrom('export_runs')
      .selectAll()
      .where('state', '=', 'waiting')
      .where('due_at_ms', '<=', nowMs)
      .orderBy('due_at_ms')
      .orderBy('day', 'desc')
      .orderBy('table_name')
      .limit(1)
      .forUpdate()
      .executeTakeFirst());
  if (found === undefined) return null;
  const run = rowOf(found);
  const next = { ...run, ...exportRunAfter(run, { type: 'run.claimed', atMs: nowMs }) };
  await write(trx, next, { epoch, untilMs: leaseUntilMs });
  return next;
}

async function settle(
  trx: Trx,
  { epoch, row, objects }: Parameters<ExportStore['settle']>[0],
): Promise<boolean> {
  const { day, table } = row;
  const held = await trx
    .selectFrom('export_runs')
    .select('lease_until_ms')
    .where('day', '=', day)
    .where('table_name', '=', table)
    .where('lease_epoch', '=', epoch)
    .forUpdate()
    .executeTakeFirst();
  if (held === undefined) return false;
  await write(trx, row, { epoch, untilMs: held.lease_until_ms ?? 0 });
  await trx
    .deleteFrom('export_objects')
    .where('day', '=', day)
    .where('table_name', '=', table)
    .where('part', '>', row.copied)
    .execute();
  for (const { part, name, rows, bytes, sha256 } of objects) {
    const values = { name, row_count: rows, bytes, sha256 };
    await trx
      .insertInto('export_objects')
      .values({ day, table_name: table, part, ...values })
      .onConflict((conflict) => conflict.columns(['day', 'table_name', 'part']).doUpdateSet(values))
      .execute();
  }
  return true;
}

async function list(
  db: Kysely<Database>,
  { table, state, limit, before }: Parameters<ExportStore['list']>[0],
): Promise<readonly ExportRow[]> {
  let page = db
    .selectFrom('export_runs')
    .selectAll()
    .orderBy('day', 'desc')
    .orderBy('table_name', 'desc')
    .limit(limit);
  if (table !== undefined) page = page.where('table_name', '=', table as ExportTable);
  if (state !== undefined) page = page.where('state', '=', state);
  if (before !== null) {
    page = page.where(sql<boolean>`(day, table_name) < (${before.day}, ${before.table})`);
  }
  return (await page.execute()).map(rowOf);
}

async function get(db: Kysely<Database>, { table, day }: TableDay): ReturnType<ExportStore['get']> {
  const row = await db
    .selectFrom('export_runs')
    .selectAll()
    .where('day', '=', day)
    .where('table_name', '=', table)
    .executeTakeFirst();
  if (row === undefined) return null;
  const objects = await db
    .selectFrom('export_objects')
    .selectAll()
    .where('day', '=', day)
    .where('table_name', '=', table)
    .orderBy('part')
    .execute();
  return {
    run: rowOf(row),
    objects: objects.map(
      ({ part, name, row_count: rows, bytes, sha256 }): ExportObject => ({
        ...{ part, name, rows, bytes, sha256 },
      }),
    ),
  };
}

async function order(
  trx: Trx,
  input: Parameters<ExportStore['order']>[0],
): Promise<ExportRow | 'active'> {
  const { table, day, nowMs } = input;
  await trx
    .insertInto('export_runs')
    .values(valuesOf({ table, day, ...newExportRun(nowMs) }, null))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const found = await trx
    .selectFrom('export_runs')
    .selectAll()
    .where('day', '=', day)
    .where('table_name', '=', table)
    .forUpdate()
    .executeTakeFirstOrThrow();
  const run = rowOf(found);
  if (isActive(run)) {
    await appendAudit(trx, [auditOfExportOrder(input, 'active')]);
    return 'active';
  }
  const next = { ...run, ...exportRunAfter(run, { type: 'run.ordered', atMs: nowMs }) };
  await write(trx, next, null);
  await appendAudit(trx, [auditOfExportOrder(input, 'ok')]);
  return next;
}

async function sweep(
  trx: Trx,
  { beforeDay, limit }: Parameters<ExportStore['sweep']>[0],
): Promise<number> {
  await sql`
    UPDATE export_horizon SET first_day = ${beforeDay} WHERE first_day < ${beforeDay}
  `.execute(trx);
  const { rows } = await sql<{ day: string }>`
    DELETE FROM export_runs WHERE (day, table_name) IN (
      SELECT day, table_name FROM export_runs
      WHERE day < ${beforeDay} AND state IN ('done', 'dead') ORDER BY day LIMIT ${limit})
    RETURNING day
  `.execute(trx);
  return rows.length;
}

type Lease = { readonly epoch: number; readonly untilMs: number } | null;

async function write(trx: Trx, row: ExportRow, lease: Lease): Promise<void> {
  const { day, table_name: table, ...values } = valuesOf(row, lease);
  await trx
    .updateTable('export_runs')
    .set(values)
    .where('day', '=', day)
    .where('table_name', '=', table)
    .execute();
}

function valuesOf({ table, day, state, dueAtMs, ...context }: ExportRow, lease: Lease) {
  const held = isActive({ state }) ? lease : null;
  return {
    ...{ day, table_name: table, state, due_at_ms: dueAtMs, context: JSON.stringify(context) },
    lease_epoch: held?.epoch ?? null,
    lease_until_ms: held?.untilMs ?? null,
  };
}

function rowOf(row: Selectable<ExportRunsTable>): ExportRow {
  const { table_name: table, day, state, due_at_ms: dueAtMs, context } = row;
  return { ...context, ...{ table, day, state, dueAtMs } } as ExportStanding & TableDay;
}
