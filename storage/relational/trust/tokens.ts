// Enrollment and re-enrollment tokens, found by the hash of their secret. invariant: I2, I11
import type { Kysely } from 'kysely';
import { auditOfTokenCreate, auditOfTokenRevoke } from '../../ports/audit/audit-entries.ts';
import type { SensorRegistry, TokenRow } from '../../ports/fleet/sensor-registry.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import { tokenOf } from '../fleet/sensor-rows.ts';
import type { Database } from '../plumbing/tables.ts';
import { transact } from '../plumbing/transaction.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';

type TokenPart = Pick<SensorRegistry, 'createToken' | 'findToken' | 'listTokens' | 'revokeToken'>;
type CreateOutcome = Awaited<ReturnType<SensorRegistry['createToken']>>;

/** Makes the registry's part about tokens. */
export function createTokens(db: Kysely<Database>): TokenPart {
  return {
    createToken: (input) => createToken(db, input),
    async findToken(hash) {
      const row = await orUnavailable(() =>
        db.selectFrom('enrollment_tokens').selectAll().where('hash', '=', hash).executeTakeFirst(),
      );
      return row === undefined ? null : tokenOf(row);
    },
    async listTokens({ limit, before }) {
      const newest = db
        .selectFrom('enrollment_tokens')
        .selectAll()
        .orderBy('token_id', 'desc')
        .limit(limit);
      const page = before === null ? newest : newest.where('token_id', '<', storableText(before));
      return (await orUnavailable(() => page.execute())).map(tokenOf);
    },
    revokeToken: (input) => revokeToken(db, input),
  };
}

function createToken(
  db: Kysely<Database>,
  input: Parameters<SensorRegistry['createToken']>[0],
): Promise<CreateOutcome> {
  return transact<CreateOutcome>(
    db,
    async (trx) => {
      if (input.sensorId !== null) {
        const sensor = await trx
          .selectFrom('sensors')
          .select('revoked_at_ms')
          .where('sensor_id', '=', storableText(input.sensorId))
          .executeTakeFirst();
        if (sensor === undefined) return { ok: false, code: 'not_found' };
        if (sensor.revoked_at_ms !== null) return { ok: false, code: 'sensor_is_revoked' };
      }
      await trx
        .insertInto('enrollment_tokens')
        .values({
          token_id: input.tokenId,
          hash: input.hash,
          kind: input.kind,
          sensor_id: input.sensorId,
          note: storableText(input.note),
          created_at_ms: input.nowMs,
          expires_at_ms: input.expiresAtMs,
          consumed_at_ms: null,
          consumed_key_digest: null,
          consumed_fingerprint: null,
          revoked_at_ms: null,
        })
        .execute();
      await appendAudit(trx, [auditOfTokenCreate(input, 'ok')]);
      return { ok: true };
    },
    (outcome) => auditOfTokenCreate(input, outcome.ok ? 'ok' : outcome.code),
  );
}

function revokeToken(
  db: Kysely<Database>,
  input: Parameters<SensorRegistry['revokeToken']>[0],
): Promise<TokenRow | null> {
  const tokenId = storableText(input.tokenId);
  return orUnavailable(() =>
    db.transaction().execute(async (trx) => {
      const changed = await trx
        .updateTable('enrollment_tokens')
        .set({ revoked_at_ms: input.nowMs })
        .where('token_id', '=', tokenId)
        .where('revoked_at_ms', 'is', null)
        .where('consumed_at_ms', 'is', null)
        .returningAll()
        .executeTakeFirst();
      const row =
        changed ??
        (await trx
          .selectFrom('enrollment_tokens')
          .selectAll()
          .where('token_id', '=', tokenId)
          .executeTakeFirst());
      const result = changed !== undefined ? 'ok' : row === undefined ? 'not_found' : 'unchanged';
      await appendAudit(trx, [auditOfTokenRevoke(input, result)]);
      return row === undefined ? null : tokenOf(row);
    }),
  );
}
