// Enrollment: a one-time token and a certificate request become an identity. The order is the rule: the token is looked
// up before anything costly, the request is checked outside the transaction, and one transaction does the rest, so a
// refusal burns no token. invariant: I2, I9, I13; decision: D12
import {
  presentToken,
  refusalOfToken,
} from '../../machines/console/trust/enrollment-token.rules.ts';
import { type ErrorCode, type Refusal, refuse } from '../../machines/errors.ts';
import type { Intervals } from '../../machines/limits.ts';
import {
  type EnrollRequest,
  type EnrollResponse,
  SENSOR_PATHS,
} from '../../machines/wire/enrollment.ts';
import type { Flavor } from '../../machines/wire/scalars.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import type { EnrollInput, SensorRegistry } from '../../storage/ports/fleet/sensor-registry.ts';
import { record } from '../audit/audit.ts';
import type { Logger } from '../runtime/logger.ts';
import { issueCertificate, type SensorCertificates } from './certificate-port.ts';
import { type Chance, systemChance } from './chance.ts';
import type { IdentityCache } from './identity-cache.ts';
import type { LicenseGate } from './license-gate.ts';
import { orUnavailable } from './outage.ts';
import type { SensorActors } from './sensor-actors.ts';
import { hashOfSecret, isTokenText } from './tokens.ts';

export type Enrollment = (
  request: EnrollRequest,
  from: { readonly address: string },
) => Promise<{ readonly ok: true; readonly response: EnrollResponse } | Refusal>;

export type EnrollmentDeps = {
  readonly registry: Pick<SensorRegistry, 'findToken' | 'enroll'>;
  readonly certificates: SensorCertificates;
  readonly cache: IdentityCache;
  readonly sensors: SensorActors;
  readonly audit: AuditLog;
  readonly license: LicenseGate;
  readonly intervals: Intervals;
  readonly platform: Flavor;
  readonly policyPublicKeyPem: string;
  readonly now: () => number;
  readonly logger: Logger;
  readonly chance?: Chance;
};

const REFUSED_BECAUSE = {
  token_invalid: 'The token is unknown or was withdrawn.',
  token_expired: 'The token is past its lifetime.',
  token_consumed: 'The token was used with another key.',
  license_limit: 'The license allows no further sensor.',
  key_in_use: 'This key belongs to another sensor; a node makes its own.',
  sensor_is_revoked: 'Revocation is final; the node enrolls as a new sensor.',
} as const;

type Prepared = { readonly ok: true; readonly input: EnrollInput };
type Answer = { readonly ok: true; readonly response: EnrollResponse } | Refusal;

/** Makes the action. It never throws for what a caller sends; every try leaves one audit entry. */
export function createEnrollment(deps: EnrollmentDeps): Enrollment {
  return async (request, from) => {
    const nowMs = deps.now();
    const prepared = await orUnavailable(() => prepare(deps, request, nowMs));
    if (prepared.ok)
      return orUnavailable(() => complete(deps, { ...prepared.input, from: from.address }));
    // From here on the registry keeps the trail itself, inside its transaction.
    await record(deps, {
      atMs: nowMs,
      actor: 'anonymous',
      action: 'sensor.enroll',
      target: request.node_name,
      result: prepared.code,
      from: from.address,
      detail: {},
    });
    return prepared;
  };
}

/** What can be refused before the transaction, cheapest first. */
async function prepare(
  deps: EnrollmentDeps,
  request: EnrollRequest,
  nowMs: number,
): Promise<Prepared | Refusal> {
  if (!isTokenText(request.token)) return refuseToken('token_invalid');
  const tokenHash = hashOfSecret(request.token);
  const token = await deps.registry.findToken(tokenHash);
  if (token === null) return refuseToken('token_invalid');
  const refused = refusalOfToken(token, nowMs);
  if (refused !== null) return refuseToken(refused);
  const csr = deps.certificates.checkCsr({
    csrPem: request.csr_pem,
    nodeName: request.node_name,
  });
  if (!csr.ok) return refuse('csr_refused', csr.detail);
  // A consumed token is good for one thing: the same answer to the same key.
  const answer = presentToken(token, { keyDigest: csr.keyDigest, nowMs });
  if (answer !== 'grant' && answer !== 'repeat') return refuseToken(answer);
  const { chance = systemChance } = deps;
  const sensorId = token.sensorId ?? chance.newId();
  const certificate = await issueCertificate(deps.certificates, {
    csr,
    sensorId,
    nodeName: request.node_name,
    nowMs,
    ttlMs: deps.intervals.CLIENT_CERTIFICATE_TTL_MS,
    backdateMs: deps.intervals.CERTIFICATE_BACKDATE_MS,
    chance,
  });
  const sensor = sensorOf(request, sensorId, deps.platform);
  const nodesAllowed = token.kind === 'enroll' ? deps.license.nodesAllowed(nowMs) : null;
  return { ok: true, input: { tokenHash, nowMs, sensor, certificate, nodesAllowed } };
}

async function complete(deps: EnrollmentDeps, input: EnrollInput): Promise<Answer> {
  const done = await deps.registry.enroll(input);
  if (!done.ok) return refuseToken(done.code);
  deps.cache.apply(done.sensorId, done.identities);
  tellActor(deps, input, done);
  return { ok: true, response: responseOf(deps, done.sensorId, done.certificate) };
}

function refuseToken(code: keyof typeof REFUSED_BECAUSE & ErrorCode): Refusal {
  return refuse(code, REFUSED_BECAUSE[code]);
}

function sensorOf(
  request: EnrollRequest,
  sensorId: string,
  platform: Flavor,
): EnrollInput['sensor'] {
  const { os_name, os_version, architecture, kernel_version } = request.system;
  return {
    sensorId,
    nodeName: request.node_name,
    flavor: request.flavor,
    declaredRole: request.declared_role ?? null,
    labels: request.labels ?? {},
    system: { os_name, os_version, architecture, kernel_version },
    bootId: request.boot_id,
    sensorVersion: request.sensor_version,
    flavorMismatch: request.flavor !== platform,
  };
}

function tellActor(
  deps: EnrollmentDeps,
  input: EnrollInput,
  done: { readonly sensorId: string; readonly certificate: { readonly notAfterMs: number } },
): void {
  const { notAfterMs } = done.certificate;
  // An identity that lives already keeps its actor and only gets new dates, counted from the present.
  const told = deps.sensors.tell(done.sensorId, {
    type: 'certificate.changed',
    atMs: deps.now(),
    notAfterMs,
  });
  if (told === 'told') return;
  const row = {
    ...input.sensor,
    sensorId: done.sensorId,
    enrolledAtMs: input.nowMs,
    revokedAtMs: null,
    revokedReason: null,
    lastHeartbeatAtMs: null,
    currentNotAfterMs: notAfterMs,
    facts: null,
  };
  deps.sensors.open(row, 'sensor.enrolled');
}

function responseOf(
  deps: EnrollmentDeps,
  sensorId: string,
  certificate: { readonly pem: string; readonly notAfterMs: number; readonly reference: string },
): EnrollResponse {
  return {
    control_plane_certificate_pem: certificate.pem,
    control_plane_ca_certificate_pem: deps.certificates.rootsPem,
    policy_signing_public_key_pem: deps.policyPublicKeyPem,
    certificate_expires_at: new Date(certificate.notAfterMs).toISOString(),
    certificate_reference: certificate.reference,
    sensor_id: sensorId,
    trust_state: 'trusted',
    heartbeat_interval_seconds: deps.intervals.HEARTBEAT_INTERVAL_MS / 1_000,
    stream_path: SENSOR_PATHS.stream,
  };
}
