// Renewal and activation in the reference registry. invariant: I4
import { auditOfActivation, auditOfRenewal } from '../../ports/audit/audit-entries.ts';
import type {
  IdentityRecord,
  RenewOutcome,
  SensorRegistry,
} from '../../ports/fleet/sensor-registry.ts';
import {
  addCertificate,
  certificatesOf,
  endAll,
  identitiesOf,
  isKeyOfAnother,
  type RegistryState,
  refused,
  setCertificate,
} from '../fleet/registry-state.ts';

type RenewInput = Parameters<SensorRegistry['addPendingCertificate']>[0];

/** Adds or replaces the pending certificate; see the port for the contract. */
export function renew(state: RegistryState, input: RenewInput): RenewOutcome {
  const outcome = decide(state, input);
  const sensorId = state.certificates.get(input.byFingerprint)?.sensorId;
  const actor = outcome.ok ? `sensor:${sensorId}` : 'anonymous';
  const result = outcome.ok ? (outcome.repeated ? 'repeated' : 'ok') : outcome.code;
  state.record(auditOfRenewal(input, actor, result));
  return outcome;
}

function decide(state: RegistryState, input: RenewInput): RenewOutcome {
  const presented = state.certificates.get(input.byFingerprint);
  if (presented === undefined) return refused('certificate_unknown');
  const { sensorId } = presented;
  if (state.sensors.get(sensorId)?.revokedAtMs !== null) return refused('sensor_revoked');
  if (presented.status !== 'current') return refused('renewal_not_allowed');
  const { keyDigest } = input.certificate;
  const own = certificatesOf(state, sensorId, ['pending', 'current', 'previous', 'ended']);
  const sameKey = own.filter((one) => one.row.keyDigest === keyDigest);
  const pending = sameKey.find((one) => one.status === 'pending');
  if (pending === undefined && sameKey.length > 0) return refused('csr_refused');
  if (isKeyOfAnother(state, keyDigest, sensorId)) return refused('key_in_use');
  if (pending === undefined) {
    endAll(state, sensorId, ['pending']);
    addCertificate(state, input.certificate, {
      sensorId,
      status: 'pending',
      createdAtMs: input.nowMs,
    });
    state.tellChanged(sensorId);
  }
  return {
    ok: true,
    repeated: pending !== undefined,
    certificate: pending?.row ?? input.certificate,
    identities: identitiesOf(state, sensorId),
  };
}

/** Makes a pending certificate current; anything else is left as it is. */
export function activate(
  state: RegistryState,
  { fingerprint, nowMs }: { readonly fingerprint: string; readonly nowMs: number },
): readonly IdentityRecord[] {
  const own = state.certificates.get(fingerprint);
  if (own === undefined) return [];
  const { sensorId } = own;
  if (own.status === 'pending' && state.sensors.get(sensorId)?.revokedAtMs === null) {
    endAll(state, sensorId, ['previous']);
    for (const { row } of certificatesOf(state, sensorId, ['current'])) {
      setCertificate(state, row.fingerprint, { status: 'previous', supersededAtMs: nowMs });
    }
    setCertificate(state, fingerprint, { status: 'current' });
    state.tellChanged(sensorId);
    state.record(auditOfActivation({ nowMs, fingerprint, sensorId }));
  }
  return identitiesOf(state, sensorId);
}
