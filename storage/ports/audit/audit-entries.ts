// What the stores write into the audit log about their own actions, in the same transaction as the action. PostgreSQL
// and the reference fake say the same, because both say it here.
import { AUDIT_TEXT_MAX_CHARS } from '../../../machines/limits.ts';
import { maskSecrets, maskText } from '../../../machines/trust/audit-mask.rules.ts';
import type { ApiKeys } from '../access/api-keys.ts';
import type { EnrollInput, SensorRegistry } from '../fleet/sensor-registry.ts';
import { storableText } from '../plumbing/stored-text.ts';
import type { AuditEntry, AuditRow } from './audit-log.ts';

type Unsealed = Omit<AuditRow, 'auditId' | 'sequence' | 'hash'>;

/** An entry as every store keeps it: storable texts, secrets masked, nothing absent. */
export function storedEntry(entry: AuditEntry): Unsealed {
  return {
    atMs: entry.atMs,
    actor: textOf(entry.actor),
    action: textOf(entry.action),
    target: textOf(entry.target),
    result: textOf(entry.result),
    detail: maskSecrets(entry.detail),
    from: entry.from === undefined || entry.from === null ? null : textOf(entry.from),
    before: entry.before === undefined || entry.before === null ? null : maskSecrets(entry.before),
    after: entry.after === undefined || entry.after === null ? null : maskSecrets(entry.after),
  };
}

export function auditOfTokenCreate(
  input: Parameters<SensorRegistry['createToken']>[0],
  result: string,
): AuditEntry {
  const { kind, note, sensorId, expiresAtMs } = input;
  const after = { kind, note, sensor_id: sensorId, expires_at_ms: expiresAtMs };
  return {
    atMs: input.nowMs,
    actor: input.actor,
    action: kind === 'enroll' ? 'token.create' : 'token.create_reenroll',
    target: input.tokenId,
    result,
    from: input.from,
    after: result === 'ok' ? after : null,
    detail: sensorId === null ? {} : { sensor_id: sensorId },
  };
}

export function auditOfTokenRevoke(
  input: Parameters<SensorRegistry['revokeToken']>[0],
  result: string,
): AuditEntry {
  return {
    atMs: input.nowMs,
    actor: input.actor,
    action: 'token.revoke',
    target: input.tokenId,
    result,
    from: input.from,
    ...changed(result, { status: 'usable' }, { status: 'revoked' }),
    detail: {},
  };
}

export function auditOfRevocation(
  input: Parameters<SensorRegistry['revoke']>[0],
  result: string,
): AuditEntry {
  const { reason } = input;
  return {
    atMs: input.nowMs,
    actor: input.actor,
    action: 'sensor.revoke',
    target: input.sensorId,
    result,
    from: input.from,
    ...changed(result, { is_revoked: false }, { is_revoked: true, reason }),
    detail: { reason },
  };
}

/** `tokenId` is known only when the enrollment succeeded. */
export function auditOfEnrollment(
  input: EnrollInput,
  tokenId: string | null,
  result: string,
): AuditEntry {
  const { sensorId, nodeName, flavor, sensorVersion } = input.sensor;
  const { fingerprint, notAfterMs } = input.certificate;
  const after = { sensor_id: sensorId, flavor, sensor_version: sensorVersion };
  return {
    atMs: input.nowMs,
    actor: tokenId === null ? 'anonymous' : `token:${tokenId}`,
    action: 'sensor.enroll',
    target: nodeName,
    result,
    from: input.from,
    after: result === 'ok' ? { ...after, fingerprint, not_after_ms: notAfterMs } : null,
    detail: tokenId === null ? {} : { sensor_id: sensorId },
  };
}

export function auditOfRenewal(
  input: Parameters<SensorRegistry['addPendingCertificate']>[0],
  actor: string,
  result: string,
): AuditEntry {
  const { fingerprint, notAfterMs } = input.certificate;
  const after = { fingerprint, status: 'pending', not_after_ms: notAfterMs };
  return {
    atMs: input.nowMs,
    actor,
    action: 'certificate.renew',
    target: input.byFingerprint,
    result,
    from: input.from,
    after: result === 'ok' ? after : null,
    detail: {},
  };
}

export function auditOfActivation(input: {
  readonly nowMs: number;
  readonly fingerprint: string;
  readonly sensorId: string;
}): AuditEntry {
  return {
    atMs: input.nowMs,
    actor: `sensor:${input.sensorId}`,
    action: 'certificate.activate',
    target: input.fingerprint,
    result: 'ok',
    ...changed('ok', { status: 'pending' }, { status: 'current' }),
    detail: {},
  };
}

export function auditOfKeyCreate(input: Parameters<ApiKeys['create']>[0]): AuditEntry {
  const { name, scopes, expiresAtMs, userId = null } = input;
  return {
    atMs: input.nowMs,
    actor: input.actor ?? 'console',
    action: 'api_key.create',
    target: input.keyId,
    result: 'ok',
    from: input.from,
    after: { name, scopes, user_id: userId, expires_at_ms: expiresAtMs },
    detail: {},
  };
}

export function auditOfKeyRevoke(
  input: Parameters<ApiKeys['revoke']>[0],
  result: string,
): AuditEntry {
  return {
    atMs: input.nowMs,
    actor: input.actor ?? 'console',
    action: 'api_key.revoke',
    target: input.keyId,
    result,
    from: input.from,
    ...changed(result, { is_revoked: false }, { is_revoked: true }),
    detail: {},
  };
}

function changed(
  result: string,
  before: AuditEntry['before'],
  after: AuditEntry['after'],
): Pick<AuditEntry, 'before' | 'after'> {
  return result === 'ok' ? { before, after } : {};
}

function textOf(text: string): string {
  return storableText(maskText(text).slice(0, AUDIT_TEXT_MAX_CHARS));
}
