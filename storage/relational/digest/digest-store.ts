// Digests in PostgreSQL: one row for each local day of each, moved under the epoch of the Console that is designated.
// decision: D60, D166
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { DIGESTS_MAX } from '../../../machines/limits.ts';
import {
  auditOfDigestChange,
  auditOfDigestCreate,
  auditOfDigestRemoval,
} from '../../ports/digest/digest-audit.ts';
import type { DigestPatch, DigestRow, DigestStore } from '../../ports/digest/digest-store.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import { holdFence } from '../runtime/fence.ts';
import { beginDay, reclaim, retry, runsOf, settle, sweep } from './digest-runs.ts';
import type { DigestsTable } from './tables.ts';

type Trx = Transaction<Database>;
const CREATE_LOCK = 7_210_154_861;

/** Makes the store. */
export function createDigestStore(db: Kysely<Database>): DigestStore {
  const transaction = <T>(run: (trx: Trx) => Promise<T>): Promise<T> =>
    orUnavailable(() => db.transaction().execute(run));
  const fenced = <T>(epoch: number, run: (trx: Trx) => Promise<T>): Promise<T> =>
    transaction(async (trx) => {
      await holdFence(trx, epoch);
      return run(trx);
    });
  return {
    async list() {
      const rows = await orUnavailable(() =>
        db.selectFrom('digests').selectAll().orderBy('digest_id').execute(),
      );
      return rows.map(rowOf);
    },
    async get(digestId) {
      const row = await orUnavailable(() =>
        db
          .selectFrom('digests')
          .selectAll()
          .where('digest_id', '=', storableText(digestId))
          .executeTakeFirst(),
      );
      return row === undefined ? null : rowOf(row);
    },
    create: (input) => transaction((trx) => create(trx, input)),
    change: (input) => transaction((trx) => change(trx, input)),
    remove: (input) =>
      transaction(async (trx) => {
        const row = await trx
          .deleteFrom('digests')
          .where('digest_id', '=', storableText(input.digestId))
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) return false;
        await appendAudit(trx, [auditOfDigestRemoval(input, rowOf(row))]);
        return true;
      }),
    reseal: ({ digestId, was, sealed }) =>
      orUnavailable(async () => {
        const { numUpdatedRows } = await db
          .updateTable('digests')
          .set({ secret_sealed: sealed })
          .where('digest_id', '=', storableText(digestId))
          .where('secret_sealed', '=', was)
          .executeTakeFirst();
        return numUpdatedRows === 1n;
      }),
    begin: (input) => fenced(input.epoch, (trx) => beginDay(trx, input)),
    retry: (input) => fenced(input.epoch, (trx) => retry(trx, input)),
    settle: (input) => fenced(input.epoch, (trx) => settle(trx, input)),
    reclaim: (input) => fenced(input.epoch, (trx) => reclaim(trx, input)),
    runs: (query) => orUnavailable(() => runsOf(db, query)),
    sweep: (input) => fenced(input.epoch, (trx) => sweep(trx, input)),
  };
}

async function create(
  trx: Trx,
  input: Parameters<DigestStore['create']>[0],
): Promise<DigestRow | 'full' | 'conflict'> {
  // Those who add one wait for each other here, so that there are never more than there may be.
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(CREATE_LOCK)})`.execute(trx);
  const { digest, nowMs } = input;
  const names = await trx.selectFrom('digests').select('name').execute();
  const name = storableText(digest.name);
  const isTaken = names.some((one) => one.name === name);
  const result = names.length >= DIGESTS_MAX ? 'full' : isTaken ? 'conflict' : 'ok';
  await appendAudit(trx, [auditOfDigestCreate(input, result)]);
  if (result !== 'ok') return result;
  const row = await trx
    .insertInto('digests')
    .values({
      ...{ digest_id: storableText(digest.digestId), ...valuesOf(digest) },
      ...{ created_at_ms: nowMs, changed_at_ms: nowMs, revision: 1 },
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return rowOf(row);
}

async function change(
  trx: Trx,
  input: Parameters<DigestStore['change']>[0],
): Promise<DigestRow | 'not_found' | 'conflict'> {
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(CREATE_LOCK)})`.execute(trx);
  const id = storableText(input.digestId);
  const row = await trx
    .selectFrom('digests')
    .selectAll()
    .where('digest_id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) return 'not_found';
  const other = await trx
    .selectFrom('digests')
    .select('digest_id')
    .where('name', '=', storableText(input.patch.name))
    .where('digest_id', '<>', id)
    .executeTakeFirst();
  if (row.revision !== input.revision || other !== undefined) return 'conflict';
  const changed = await trx
    .updateTable('digests')
    .set({ ...valuesOf(input.patch), changed_at_ms: input.nowMs, revision: row.revision + 1 })
    .where('digest_id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await appendAudit(trx, [auditOfDigestChange(input, rowOf(row), rowOf(changed))]);
  return rowOf(changed);
}

function valuesOf({ name, secretSealed, sinceMs, ...rest }: DigestPatch) {
  const { groupId, timeZone, at, isOn, way, caPem, proxyUrl } = rest;
  return {
    name: storableText(name),
    plan: JSON.stringify({ groupId, timeZone, at, isOn, way, caPem, proxyUrl }),
    ...{ secret_sealed: secretSealed, since_ms: sinceMs },
  };
}

function rowOf(row: Selectable<DigestsTable>): DigestRow {
  return {
    ...row.plan,
    ...{ digestId: row.digest_id, name: row.name, secretSealed: row.secret_sealed },
    ...{ sinceMs: row.since_ms, createdAtMs: row.created_at_ms, changedAtMs: row.changed_at_ms },
    revision: row.revision,
  };
}
