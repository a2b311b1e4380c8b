// Transactions that can end in a refusal: the refusal rolls everything back, then leaves an audit row of its own.
import { type Kysely, sql, type Transaction } from 'kysely';
import type { AuditEntry } from '../../ports/audit/audit-log.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from './tables.ts';
import { orUnavailable } from './unavailable.ts';

/** The PostgreSQL channel every replica listens on. */
export const IDENTITY_CHANNEL = 'sensor_identities';

class RolledBack extends Error {
  override readonly name = 'RolledBack';
}

/** Runs a transaction; an outcome that is not ok rolls it back and is returned after its audit row is written. */
export async function transact<Outcome extends { readonly ok: boolean }>(
  db: Kysely<Database>,
  run: (trx: Transaction<Database>) => Promise<Outcome>,
  auditRefusal: (outcome: Outcome) => AuditEntry,
): Promise<Outcome> {
  return orUnavailable(async () => {
    let refused: Outcome | null = null;
    try {
      return await db.transaction().execute(async (trx) => {
        const outcome = await run(trx);
        if (outcome.ok) return outcome;
        refused = outcome;
        throw new RolledBack('refused');
      });
    } catch (error) {
      if (!(error instanceof RolledBack) || refused === null) throw error;
      await appendAudit(db, [auditRefusal(refused)]);
      return refused;
    }
  });
}

/** Tells every replica, at commit, that the identities of a sensor changed. */
export async function notifyIdentities(
  trx: Transaction<Database>,
  sensorId: string,
): Promise<void> {
  await sql`SELECT pg_notify(${IDENTITY_CHANNEL}, ${sensorId})`.execute(trx);
}
