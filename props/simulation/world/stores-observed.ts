// The registry's calls with a word to the checkers at every commit that changed who is trusted. What is told is read
// from the state before and after, never from what the caller is answered: an answer can be lost.
import { type RegistryPort, registryCalls } from '../../../storage/memory/fleet/registry-calls.ts';
import {
  certificatesOf,
  type RegistryState,
  type Token,
} from '../../../storage/memory/fleet/registry-state.ts';
import type { Calls } from '../../../storage/memory/plumbing/unsafe-port-of.ts';
import type { Observation } from './observation.ts';

type Observe = (observation: Observation) => void;
type Input<Name extends keyof RegistryPort> = Parameters<RegistryPort[Name]>[0];

/** The calls on a state, observed. */
export function observedRegistry(state: RegistryState, observe: Observe): Calls<RegistryPort> {
  const calls = registryCalls(state);
  return {
    ...calls,
    createToken(input) {
      const outcome = calls.createToken(input);
      if (outcome.ok) {
        observe({
          kind: 'token.created',
          token: input.tokenId,
          purpose: input.kind,
          sensor: input.sensorId,
          expiresAtMs: input.expiresAtMs,
        });
      }
      return outcome;
    },
    revokeToken(input) {
      const isOpen = tokensWithId(state, input.tokenId).some((one) => one.revokedAtMs === null);
      const row = calls.revokeToken(input);
      if (isOpen && row !== null && row.revokedAtMs !== null) {
        observe({ kind: 'token.revoked', token: input.tokenId });
      }
      return row;
    },
    enroll(input) {
      const outcome = calls.enroll(input);
      const token = state.tokens.get(input.tokenHash.toString('hex'));
      if (outcome.ok && token !== undefined) {
        observe({
          kind: 'sensor.enrolled',
          sensor: outcome.sensorId,
          token: token.tokenId,
          fingerprint: outcome.certificate.fingerprint,
          repeated: outcome.repeated,
          notAfterMs: outcome.certificate.notAfterMs,
          nowMs: input.nowMs,
        });
      }
      return outcome;
    },
    addPendingCertificate(input) {
      const outcome = calls.addPendingCertificate(input);
      if (outcome.ok && !outcome.repeated) tellIssued(state, observe, input);
      return outcome;
    },
    activateCertificate(input) {
      const wasPending = state.certificates.get(input.fingerprint)?.status === 'pending';
      const identities = calls.activateCertificate(input);
      if (wasPending) tellActivated(state, observe, input);
      return identities;
    },
    revoke(input) {
      const wasTrusted = state.sensors.get(input.sensorId)?.revokedAtMs === null;
      const row = calls.revoke(input);
      if (wasTrusted) {
        observe({ kind: 'sensor.revoked', sensor: input.sensorId, nowMs: input.nowMs });
      }
      return row;
    },
  };
}

function tokensWithId(state: RegistryState, tokenId: string): readonly Token[] {
  return [...state.tokens.values()].filter((one) => one.tokenId === tokenId);
}

function tellIssued(
  state: RegistryState,
  observe: Observe,
  input: Input<'addPendingCertificate'>,
): void {
  const { fingerprint, notAfterMs } = input.certificate;
  const sensor = state.certificates.get(fingerprint)?.sensorId;
  if (sensor === undefined) return;
  observe({ kind: 'certificate.issued', sensor, fingerprint, notAfterMs });
}

function tellActivated(
  state: RegistryState,
  observe: Observe,
  { fingerprint }: Input<'activateCertificate'>,
): void {
  const own = state.certificates.get(fingerprint);
  if (own?.status !== 'current') return;
  const [previous] = certificatesOf(state, own.sensorId, ['previous']);
  observe({
    kind: 'certificate.activated',
    sensor: own.sensorId,
    fingerprint,
    previous: previous?.row.fingerprint ?? null,
    supersededAtMs: previous?.supersededAtMs ?? null,
  });
}
