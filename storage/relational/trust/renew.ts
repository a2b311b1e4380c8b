// Renewal: a pending certificate beside the current one, and its activation at first use. invariant: I4
import { type Kysely, sql, type Transaction } from 'kysely';
import { auditOfActivation, auditOfRenewal } from '../../ports/audit/audit-entries.ts';
import type {
  CertificateRow,
  IdentityRecord,
  RenewOutcome,
} from '../../ports/fleet/sensor-registry.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import {
  certificateOf,
  insertCertificate,
  isKeyOfAnother,
  readIdentities,
} from '../fleet/sensor-rows.ts';
import type { Database } from '../plumbing/tables.ts';
import { notifyIdentities, transact } from '../plumbing/transaction.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';

type RenewInput = {
  readonly byFingerprint: string;
  readonly nowMs: number;
  readonly certificate: CertificateRow;
  readonly from?: string | undefined;
};

/** Adds or replaces the pending certificate; see the port for the contract. */
export function addPendingCertificate(
  db: Kysely<Database>,
  input: RenewInput,
): Promise<RenewOutcome> {
  return transact<RenewOutcome>(
    db,
    (trx) => renew(trx, input),
    (outcome) => auditOfRenewal(input, 'anonymous', outcome.ok ? 'ok' : outcome.code),
  );
}

async function renew(trx: Transaction<Database>, input: RenewInput): Promise<RenewOutcome> {
  const presented = await lockPresented(trx, input.byFingerprint);
  if (presented === undefined) return { ok: false, code: 'certificate_unknown' };
  if (presented.revoked_at_ms !== null) return { ok: false, code: 'sensor_revoked' };
  if (presented.status !== 'current') return { ok: false, code: 'renewal_not_allowed' };
  const sensorId = presented.sensor_id;
  const sameKey = await trx
    .selectFrom('sensor_certificates')
    .selectAll()
    .where('sensor_id', '=', sensorId)
    .where('key_digest', '=', input.certificate.keyDigest)
    .execute();
  const pending = sameKey.find((one) => one.status === 'pending');
  if (pending !== undefined) {
    await appendAudit(trx, [auditOfRenewal(input, `sensor:${sensorId}`, 'repeated')]);
    return {
      ok: true,
      repeated: true,
      certificate: certificateOf(pending),
      identities: await readIdentities(trx, sensorId),
    };
  }
  if (sameKey.length > 0) return { ok: false, code: 'csr_refused' };
  if (await isKeyOfAnother(trx, input.certificate.keyDigest, sensorId)) {
    return { ok: false, code: 'key_in_use' };
  }
  await trx
    .updateTable('sensor_certificates')
    .set({ status: 'ended' })
    .where('sensor_id', '=', sensorId)
    .where('status', '=', 'pending')
    .execute();
  await insertCertificate(trx, input.certificate, {
    sensorId,
    status: 'pending',
    nowMs: input.nowMs,
  });
  await appendAudit(trx, [auditOfRenewal(input, `sensor:${sensorId}`, 'ok')]);
  await notifyIdentities(trx, sensorId);
  return {
    ok: true,
    repeated: false,
    certificate: input.certificate,
    identities: await readIdentities(trx, sensorId),
  };
}

/** Makes a pending certificate current; anything else is left as it is. */
export function activateCertificate(
  db: Kysely<Database>,
  input: { readonly fingerprint: string; readonly nowMs: number },
): Promise<readonly IdentityRecord[]> {
  return orUnavailable(() =>
    db.transaction().execute(async (trx) => {
      const presented = await lockPresented(trx, input.fingerprint);
      if (presented === undefined) return [];
      const sensorId = presented.sensor_id;
      if (presented.status === 'pending' && presented.revoked_at_ms === null) {
        await rotate(trx, { ...input, sensorId });
        await notifyIdentities(trx, sensorId);
        await appendAudit(trx, [auditOfActivation({ ...input, sensorId })]);
      }
      return readIdentities(trx, sensorId);
    }),
  );
}

/** Three updates in this order, because at most one certificate may be current at every moment. */
async function rotate(
  trx: Transaction<Database>,
  input: { readonly fingerprint: string; readonly nowMs: number; readonly sensorId: string },
): Promise<void> {
  const ofSensor = trx.updateTable('sensor_certificates').where('sensor_id', '=', input.sensorId);
  await ofSensor.set({ status: 'ended' }).where('status', '=', 'previous').execute();
  await ofSensor
    .set({ status: 'previous', superseded_at_ms: input.nowMs })
    .where('status', '=', 'current')
    .execute();
  await ofSensor.set({ status: 'current' }).where('fingerprint', '=', input.fingerprint).execute();
}

/** The sensor row is the lock: every change of its certificates waits here. */
async function lockPresented(trx: Transaction<Database>, fingerprint: string) {
  const wanted = storableText(fingerprint);
  await sql`
    SELECT 1 FROM sensors WHERE sensor_id =
      (SELECT sensor_id FROM sensor_certificates WHERE fingerprint = ${wanted}) FOR UPDATE
  `.execute(trx);
  return trx
    .selectFrom('sensor_certificates as c')
    .innerJoin('sensors as s', 's.sensor_id', 'c.sensor_id')
    .select(['c.sensor_id', 'c.status', 's.revoked_at_ms'])
    .where('c.fingerprint', '=', wanted)
    .executeTakeFirst();
}
