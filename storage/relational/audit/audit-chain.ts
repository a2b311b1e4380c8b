// The audit chain in PostgreSQL. Every call is one transaction that first takes the sealer's advisory lock, so several
// Consoles that share a database never seal at once; the lock ends with the transaction, however that ends. The unique
// sequence is the second fence. decision: D35; invariant: I17
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { GENESIS_HASH } from '../../../machines/trust/audit-chain.rules.ts';
import type {
  AuditChain,
  AuditCheckpoint,
  ChainHead,
  HashOf,
  SealOutcome,
} from '../../ports/audit/audit-chain.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import { holdFence } from '../runtime/fence.ts';
import { auditRowOf } from './audit-log.ts';
import type { AuditCheckpointsTable } from './tables.ts';

const SEALER_LOCK = 7_210_154_832;

/** Makes the chain's port. */
export function createAuditChain(db: Kysely<Database>): AuditChain {
  return {
    seal: (request) => underLock(db, { isBusy: true }, request.epoch, (trx) => seal(trx, request)),
    checkpoint: (sign, epoch) => underLock(db, null, epoch, (trx) => checkpoint(trx, sign)),
    async checkpoints({ after, limit }) {
      const rows = await orUnavailable(() =>
        db
          .selectFrom('audit_checkpoints')
          .selectAll()
          .where('sequence', '>', after)
          .orderBy('sequence')
          .limit(limit)
          .execute(),
      );
      return rows.map(checkpointOf);
    },
  };
}

function underLock<Answer>(
  db: Kysely<Database>,
  busy: Answer,
  epoch: number | undefined,
  run: (trx: Transaction<Database>) => Promise<Answer>,
): Promise<Answer> {
  return orUnavailable(() =>
    db.transaction().execute(async (trx) => {
      const { rows } = await sql<{ is_mine: boolean }>`
        SELECT pg_try_advisory_xact_lock(${sql.lit(SEALER_LOCK)}) AS is_mine
      `.execute(trx);
      if (rows[0]?.is_mine !== true) return busy;
      await holdFence(trx, epoch);
      return run(trx);
    }),
  );
}

async function seal(
  trx: Transaction<Database>,
  { limit, hashOf }: { readonly limit: number; readonly hashOf: HashOf },
): Promise<SealOutcome> {
  const unsealed = await trx
    .selectFrom('audit_records')
    .selectAll()
    .where('sequence', 'is', null)
    .orderBy('audit_id')
    .limit(limit)
    .execute();
  let head = await headOf(trx);
  const sealed: (ChainHead & { readonly id: number })[] = [];
  for (const row of unsealed.map(auditRowOf)) {
    const sequence = head.sequence + 1;
    head = { sequence, hash: hashOf(row, { sequence, hash: head.hash }) };
    sealed.push({ ...head, id: row.auditId });
  }
  if (sealed.length > 0) await write(trx, sealed);
  const checkpoint = await newestCheckpoint(trx);
  return { isBusy: false, sealed: sealed.length, head, checkpoint: checkpoint ?? null };
}

// Rows that somebody sealed meanwhile would be missing from the count; nobody does under the lock.
async function write(
  trx: Transaction<Database>,
  sealed: readonly (ChainHead & { readonly id: number })[],
): Promise<void> {
  const { numAffectedRows } = await sql`
    UPDATE audit_records AS r SET sequence = s.sequence, hash = s.hash
    FROM jsonb_to_recordset(${JSON.stringify(sealed)}::jsonb)
      AS s (id bigint, sequence bigint, hash text)
    WHERE r.audit_id = s.id AND r.sequence IS NULL
  `.execute(trx);
  if (Number(numAffectedRows) !== sealed.length) {
    throw new Error('audit rows were sealed by somebody else at the same time');
  }
}

async function checkpoint(
  trx: Transaction<Database>,
  sign: (head: ChainHead) => AuditCheckpoint,
): Promise<AuditCheckpoint | null> {
  const head = await headOf(trx);
  const newest = await newestCheckpoint(trx);
  if (head.sequence <= (newest?.sequence ?? 0)) return null;
  const signed = sign(head);
  await trx
    .insertInto('audit_checkpoints')
    .values({
      sequence: signed.sequence,
      hash: signed.hash,
      at_ms: signed.atMs,
      public_key_pem: signed.publicKeyPem,
      signature: signed.signature,
    })
    .execute();
  return signed;
}

async function headOf(trx: Transaction<Database>): Promise<ChainHead> {
  const row = await trx
    .selectFrom('audit_records')
    .select(['sequence', 'hash'])
    .where('sequence', 'is not', null)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  return { sequence: row?.sequence ?? 0, hash: row?.hash ?? GENESIS_HASH };
}

async function newestCheckpoint(trx: Transaction<Database>) {
  const row = await trx
    .selectFrom('audit_checkpoints')
    .selectAll()
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : checkpointOf(row);
}

function checkpointOf(row: Selectable<AuditCheckpointsTable>): AuditCheckpoint {
  return {
    sequence: row.sequence,
    hash: row.hash,
    atMs: row.at_ms,
    publicKeyPem: row.public_key_pem,
    signature: row.signature,
  };
}
