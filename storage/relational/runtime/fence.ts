// The fence of designated loops, inside the transaction that writes. The row of the tenure is shared until the commit, so a
// Console that takes over waits for it or comes first: nothing is ever committed under an epoch that is over. decision: D60
import { sql, type Transaction } from 'kysely';
import { Overtaken } from '../../ports/runtime/designation.ts';
import type { Database } from '../plumbing/tables.ts';

/** Throws Overtaken when another Console is designated by now; without an epoch there is nothing to fence. */
export async function holdFence(
  trx: Transaction<Database>,
  epoch: number | undefined,
): Promise<void> {
  if (epoch === undefined) return;
  const { rows } = await sql<{ epoch: number }>`SELECT epoch FROM designation FOR SHARE`.execute(
    trx,
  );
  if (rows[0]?.epoch !== epoch) throw new Overtaken(epoch);
}
