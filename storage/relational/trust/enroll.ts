// Enrollment and re-enrollment: ONE conditional update consumes the token, and everything else happens in its
// transaction. Whoever comes second finds the token consumed. invariant: I2, I3; decision: D12
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { presentToken } from '../../../machines/console/trust/enrollment-token.rules.ts';
import { auditOfEnrollment } from '../../ports/audit/audit-entries.ts';
import type { EnrollInput, EnrollOutcome } from '../../ports/fleet/sensor-registry.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import {
  certificateOf,
  insertCertificate,
  isKeyOfAnother,
  readIdentities,
} from '../fleet/sensor-rows.ts';
import type { TokensTable } from '../fleet/tables.ts';
import type { Database } from '../plumbing/tables.ts';
import { notifyIdentities, transact } from '../plumbing/transaction.ts';

/** Serializes the count of nodes against the license; only taken when there is a limit. */
const LICENSE_LOCK = 7_210_154_831;
type Refusal = Extract<EnrollOutcome, { ok: false }>;
type Token = Selectable<TokensTable>;

/** Enrolls by token; see the port for the contract. */
export function enroll(db: Kysely<Database>, input: EnrollInput): Promise<EnrollOutcome> {
  return transact<EnrollOutcome>(
    db,
    async (trx) => {
      const token = await consumeToken(trx, input);
      if (token === undefined) return repeatOrRefuse(trx, input);
      const refusal =
        token.kind === 'enroll'
          ? await addSensor(trx, input)
          : await replaceIdentity(trx, input, token);
      if (refusal !== null) return refusal;
      const { sensorId } = input.sensor;
      if (await isKeyOfAnother(trx, input.certificate.keyDigest, sensorId))
        return refused('key_in_use');
      await insertCertificate(trx, input.certificate, {
        sensorId,
        status: 'current',
        nowMs: input.nowMs,
      });
      await appendAudit(trx, [auditOfEnrollment(input, token.token_id, 'ok')]);
      await notifyIdentities(trx, sensorId);
      const identities = await readIdentities(trx, sensorId);
      return {
        ok: true,
        repeated: false,
        sensorId,
        certificate: input.certificate,
        identities,
      };
    },
    (outcome) => auditOfEnrollment(input, null, outcome.ok ? 'ok' : outcome.code),
  );
}

async function consumeToken(
  trx: Transaction<Database>,
  input: EnrollInput,
): Promise<Token | undefined> {
  return trx
    .updateTable('enrollment_tokens')
    .set({
      consumed_at_ms: input.nowMs,
      consumed_key_digest: input.certificate.keyDigest,
      consumed_fingerprint: input.certificate.fingerprint,
    })
    .where('hash', '=', input.tokenHash)
    .where('consumed_at_ms', 'is', null)
    .where('revoked_at_ms', 'is', null)
    .where('expires_at_ms', '>', input.nowMs)
    .returningAll()
    .executeTakeFirst();
}

async function repeatOrRefuse(
  trx: Transaction<Database>,
  input: EnrollInput,
): Promise<EnrollOutcome> {
  const token = await trx
    .selectFrom('enrollment_tokens')
    .selectAll()
    .where('hash', '=', input.tokenHash)
    .executeTakeFirst();
  if (token === undefined) return refused('token_invalid');
  const { keyDigest } = input.certificate;
  const judged = presentToken(
    {
      expiresAtMs: token.expires_at_ms,
      revokedAtMs: token.revoked_at_ms,
      consumedKeyDigest: token.consumed_key_digest,
    },
    { keyDigest, nowMs: input.nowMs },
  );
  if (judged !== 'grant' && judged !== 'repeat') return refused(judged);
  const { consumed_fingerprint: fingerprint } = token;
  // The update before this one looked at the same row: what it did not take was not to be had.
  if (judged === 'grant' || fingerprint === null) return refused('token_invalid');
  const row = await trx
    .selectFrom('sensor_certificates as c')
    .innerJoin('sensors as s', 's.sensor_id', 'c.sensor_id')
    .selectAll('c')
    .select('s.revoked_at_ms')
    .where('c.fingerprint', '=', fingerprint)
    .executeTakeFirstOrThrow();
  if (row.revoked_at_ms !== null) return refused('sensor_is_revoked');
  if (row.status === 'ended') return refused('token_consumed');
  await appendAudit(trx, [auditOfEnrollment(input, token.token_id, 'repeated')]);
  const identities = await readIdentities(trx, row.sensor_id);
  return {
    ok: true,
    repeated: true,
    sensorId: row.sensor_id,
    certificate: certificateOf(row),
    identities,
  };
}

async function addSensor(trx: Transaction<Database>, input: EnrollInput): Promise<Refusal | null> {
  if (input.nodesAllowed !== null) {
    await sql`SELECT pg_advisory_xact_lock(${LICENSE_LOCK})`.execute(trx);
    const { nodes } = await trx
      .selectFrom('sensors')
      .select((eb) => eb.fn.countAll<number>().as('nodes'))
      .where('revoked_at_ms', 'is', null)
      .executeTakeFirstOrThrow();
    if (nodes >= input.nodesAllowed) return refused('license_limit');
  }
  await trx
    .insertInto('sensors')
    .values({
      sensor_id: input.sensor.sensorId,
      node_name: input.sensor.nodeName,
      ...reportedOf(input),
      enrolled_at_ms: input.nowMs,
      revoked_at_ms: null,
      revoked_reason: null,
      last_heartbeat_at_ms: null,
      facts: null,
    })
    .execute();
  return null;
}

async function replaceIdentity(
  trx: Transaction<Database>,
  input: EnrollInput,
  token: Token,
): Promise<Refusal | null> {
  const sensor = await trx
    .selectFrom('sensors')
    .select(['sensor_id', 'node_name', 'revoked_at_ms'])
    .where('sensor_id', '=', token.sensor_id)
    .forUpdate()
    .executeTakeFirst();
  if (sensor === undefined) return refused('token_invalid');
  if (sensor.revoked_at_ms !== null) return refused('sensor_is_revoked');
  const isThisNode =
    sensor.sensor_id === input.sensor.sensorId && sensor.node_name === input.sensor.nodeName;
  if (!isThisNode) return refused('token_invalid');
  await trx
    .updateTable('sensor_certificates')
    .set({ status: 'ended' })
    .where('sensor_id', '=', sensor.sensor_id)
    .where('status', '!=', 'ended')
    .execute();
  await trx
    .updateTable('sensors')
    .set(reportedOf(input))
    .where('sensor_id', '=', sensor.sensor_id)
    .execute();
  return null;
}

function reportedOf({ sensor }: EnrollInput) {
  return {
    flavor: sensor.flavor,
    declared_role: sensor.declaredRole === null ? null : storableText(sensor.declaredRole),
    told_role: storableText(sensor.declaredRole ?? ''),
    labels: JSON.stringify(sensor.labels),
    system: JSON.stringify(sensor.system),
    boot_id: storableText(sensor.bootId),
    sensor_version: storableText(sensor.sensorVersion),
    flavor_mismatch: sensor.flavorMismatch,
  };
}

function refused(code: Refusal['code']): Refusal {
  return { ok: false, code };
}
