// The days of digests in PostgreSQL; each of these runs inside the transaction that holds the fence. decision: D60, D166
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { begunAgain, begunFirst, lostRun, missedRun } from '../../ports/digest/digest-moves.ts';
import type { DigestRun, DigestRunKey, DigestStore } from '../../ports/digest/digest-store.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { Database } from '../plumbing/tables.ts';
import type { DigestRunsTable } from './tables.ts';

type Trx = Transaction<Database>;
type Lease = { readonly epoch: number; readonly untilMs: number };

/** Begins a day of a digest that is still there and has no row of it or of a later one. */
export async function beginDay(
  trx: Trx,
  { epoch, nowMs, leaseUntilMs, missed, ...given }: Parameters<DigestStore['begin']>[0],
): Promise<DigestRun | null> {
  const of = { ...given, digestId: storableText(given.digestId) };
  const digest = await trx
    .selectFrom('digests')
    .select('digest_id')
    .where('digest_id', '=', of.digestId)
    .forShare()
    .executeTakeFirst();
  const last = await trx
    .selectFrom('digest_runs')
    .select('day')
    .where('digest_id', '=', of.digestId)
    .orderBy('day', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (digest === undefined || (last !== undefined && last.day >= of.day)) return null;
  const run = { ...begunFirst(nowMs), ...of };
  const before = missed
    .filter((day) => last === undefined || day > last.day)
    .map((day) => valuesOf({ ...missedRun(nowMs), ...of, day }, null));
  const own = valuesOf(run, { epoch, untilMs: leaseUntilMs });
  await trx
    .insertInto('digest_runs')
    .values([...before, own])
    .execute();
  return run;
}

/** Begins another attempt of what waits longest. */
export async function retry(
  trx: Trx,
  { epoch, nowMs, leaseUntilMs }: Parameters<DigestStore['retry']>[0],
): Promise<DigestRun | null> {
  const row = await trx
    .selectFrom('digest_runs')
    .selectAll()
    .where('state', '=', 'waiting')
    .where('due_at_ms', '<=', nowMs)
    .orderBy('due_at_ms')
    .orderBy('digest_id')
    .orderBy('day')
    .limit(1)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) return null;
  const run = begunAgain(runOf(row), nowMs);
  await write(trx, run, { epoch, untilMs: leaseUntilMs });
  return run;
}

/** Writes what an attempt came to, while the run is this tenure's. */
export async function settle(
  trx: Trx,
  { epoch, run }: Parameters<DigestStore['settle']>[0],
): Promise<boolean> {
  const held = await trx
    .selectFrom('digest_runs')
    .select('day')
    .where('digest_id', '=', run.digestId)
    .where('day', '=', run.day)
    .where('lease_epoch', '=', epoch)
    .forUpdate()
    .executeTakeFirst();
  if (held === undefined) return false;
  await write(trx, run, null);
  return true;
}

/** Ends what nobody settled. */
export async function reclaim(
  trx: Trx,
  { epoch, nowMs }: Parameters<DigestStore['reclaim']>[0],
): Promise<readonly DigestRunKey[]> {
  const lost = await trx
    .selectFrom('digest_runs')
    .selectAll()
    .where('lease_epoch', 'is not', null)
    .where(({ eb, or }) => or([eb('lease_epoch', '!=', epoch), eb('lease_until_ms', '<=', nowMs)]))
    .orderBy('digest_id')
    .orderBy('day')
    .forUpdate()
    .execute();
  for (const row of lost) await write(trx, lostRun(runOf(row), nowMs), null);
  return lost.map((row) => ({ digestId: row.digest_id, day: row.day }));
}

/** The newest day first. */
export async function runsOf(
  db: Kysely<Database>,
  { digestId, limit }: Parameters<DigestStore['runs']>[0],
): Promise<readonly DigestRun[]> {
  const rows = await db
    .selectFrom('digest_runs')
    .selectAll()
    .where('digest_id', '=', storableText(digestId))
    .orderBy('day', 'desc')
    .limit(limit)
    .execute();
  return rows.map(runOf);
}

/** Removes what ended long ago. */
export async function sweep(
  trx: Trx,
  { beforeDay, limit }: Parameters<DigestStore['sweep']>[0],
): Promise<number> {
  const { rows } = await sql`
    DELETE FROM digest_runs WHERE (digest_id, day) IN (
      SELECT digest_id, day FROM digest_runs
      WHERE day < ${beforeDay} AND state NOT IN ('sending', 'waiting')
      ORDER BY day LIMIT ${limit}
    ) RETURNING day`.execute(trx);
  return rows.length;
}

async function write(trx: Trx, run: DigestRun, lease: Lease | null): Promise<void> {
  const { digest_id: digestId, day, ...values } = valuesOf(run, lease);
  await trx
    .updateTable('digest_runs')
    .set(values)
    .where('digest_id', '=', digestId)
    .where('day', '=', day)
    .execute();
}

function valuesOf({ digestId, day, state, dueAtMs, ...context }: DigestRun, lease: Lease | null) {
  return {
    ...{ digest_id: digestId, day, state, due_at_ms: dueAtMs, context: JSON.stringify(context) },
    lease_epoch: lease?.epoch ?? null,
    lease_until_ms: lease?.untilMs ?? null,
  };
}

function runOf(row: Selectable<DigestRunsTable>): DigestRun {
  const { digest_id: digestId, day, state, due_at_ms: dueAtMs, context } = row;
  return { ...context, ...{ digestId, day, state, dueAtMs } };
}
