// Enrolling by token in the reference registry: the same refusals in the same order as the real one. invariant: I2, I3;
// decision: D12
import { presentToken } from '../../../machines/console/trust/enrollment-token.rules.ts';
import { auditOfEnrollment } from '../../ports/audit/audit-entries.ts';
import type { EnrollInput, EnrollOutcome, SensorRow } from '../../ports/fleet/sensor-registry.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import {
  addCertificate,
  endAll,
  identitiesOf,
  isKeyOfAnother,
  type RegistryState,
  refused,
  type Token,
} from '../fleet/registry-state.ts';

type Refusal = Extract<EnrollOutcome, { ok: false }>;

/** Enrolls by token; see the port for the contract. */
export function enroll(state: RegistryState, input: EnrollInput): EnrollOutcome {
  const token = state.tokens.get(input.tokenHash.toString('hex'));
  const outcome = decide(state, input, token);
  const tokenId = outcome.ok ? (token?.tokenId ?? null) : null;
  const result = outcome.ok ? (outcome.repeated ? 'repeated' : 'ok') : outcome.code;
  state.record(auditOfEnrollment(input, tokenId, result));
  return outcome;
}

function decide(state: RegistryState, input: EnrollInput, token: Token | undefined): EnrollOutcome {
  if (token === undefined) return refused('token_invalid');
  const { keyDigest } = input.certificate;
  const judged = presentToken(token, { keyDigest, nowMs: input.nowMs });
  if (judged === 'repeat') return repeat(state, token.fingerprint);
  if (judged !== 'grant') return refused(judged);
  const known = token.sensorId === null ? undefined : state.sensors.get(token.sensorId);
  const refusal =
    token.kind === 'reenroll' ? refuseReplacing(known, input) : refuseAdding(state, input);
  if (refusal !== null) return refusal;
  const { sensorId } = input.sensor;
  if (isKeyOfAnother(state, keyDigest, sensorId)) return refused('key_in_use');
  endAll(state, sensorId, ['pending', 'current', 'previous']);
  state.sensors.set(sensorId, sensorRowOf(input, known));
  state.toldRoles.set(sensorId, storableText(input.sensor.declaredRole ?? ''));
  addCertificate(state, input.certificate, {
    sensorId,
    status: 'current',
    createdAtMs: input.nowMs,
  });
  state.tokens.set(token.hash, {
    ...token,
    consumedAtMs: input.nowMs,
    consumedKeyDigest: input.certificate.keyDigest,
    fingerprint: input.certificate.fingerprint,
  });
  state.tellChanged(sensorId);
  const identities = identitiesOf(state, sensorId);
  return { ok: true, repeated: false, sensorId, certificate: input.certificate, identities };
}

function repeat(state: RegistryState, fingerprint: string | null): EnrollOutcome {
  const own = state.certificates.get(fingerprint ?? '');
  if (own === undefined) throw new Error('a consumed token has a certificate');
  const { sensorId } = own;
  if (state.sensors.get(sensorId)?.revokedAtMs !== null) return refused('sensor_is_revoked');
  if (own.status === 'ended') return refused('token_consumed');
  const identities = identitiesOf(state, sensorId);
  return { ok: true, repeated: true, sensorId, certificate: own.row, identities };
}

function refuseReplacing(known: SensorRow | undefined, input: EnrollInput): Refusal | null {
  if (known === undefined) return refused('token_invalid');
  if (known.revokedAtMs !== null) return refused('sensor_is_revoked');
  const isThisNode =
    known.sensorId === input.sensor.sensorId && known.nodeName === input.sensor.nodeName;
  return isThisNode ? null : refused('token_invalid');
}

function refuseAdding(state: RegistryState, input: EnrollInput): Refusal | null {
  if (input.nodesAllowed === null) return null;
  let nodes = 0;
  for (const one of state.sensors.values()) if (one.revokedAtMs === null) nodes += 1;
  return nodes >= input.nodesAllowed ? refused('license_limit') : null;
}

function sensorRowOf({ sensor, nowMs }: EnrollInput, known: SensorRow | undefined): SensorRow {
  return {
    enrolledAtMs: nowMs,
    revokedAtMs: null,
    revokedReason: null,
    lastHeartbeatAtMs: null,
    currentNotAfterMs: null,
    facts: null,
    ...known,
    ...sensor,
    declaredRole: sensor.declaredRole === null ? null : storableText(sensor.declaredRole),
    bootId: storableText(sensor.bootId),
    sensorVersion: storableText(sensor.sensorVersion),
  };
}
