// Renewal in two steps: a new certificate waits as `pending`, and its first authenticated request makes it current. Until
// then the old one stays current, so a lost answer costs nothing. Only the current certificate may ask.
// invariant: I4, I9
import { type Refusal, refuse } from '../../machines/errors.ts';
import type { Intervals } from '../../machines/limits.ts';
import { mayRenew } from '../../machines/trust/certificate.rules.ts';
import type { RenewResponse } from '../../machines/wire/enrollment.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import type { IdentityRecord, SensorRegistry } from '../../storage/ports/fleet/sensor-registry.ts';
import { record } from '../audit/audit.ts';
import type { Logger } from '../runtime/logger.ts';
import { type CheckedCsr, issueCertificate, type SensorCertificates } from './certificate-port.ts';
import { type Chance, systemChance } from './chance.ts';
import type { IdentityCache, IdentityVerdict } from './identity-cache.ts';
import { orUnavailable } from './outage.ts';
import type { SensorActors } from './sensor-actors.ts';

export type Renewal = (input: {
  readonly identity: IdentityRecord;
  readonly csrPem: string;
  readonly from?: string;
}) => Promise<{ readonly ok: true; readonly response: RenewResponse } | Refusal>;

/** Judges a certificate; a pending one is made current before the verdict is given. */
export type Authenticate = (
  fingerprint: string | null,
) => IdentityVerdict | Promise<IdentityVerdict>;

export type RenewalDeps = {
  readonly registry: Pick<SensorRegistry, 'addPendingCertificate' | 'activateCertificate'>;
  readonly certificates: SensorCertificates;
  readonly cache: IdentityCache;
  readonly sensors: SensorActors;
  readonly audit: AuditLog;
  readonly intervals: Intervals;
  readonly now: () => number;
  readonly logger: Logger;
  readonly chance?: Chance;
};

const REFUSED_BECAUSE = {
  renewal_not_allowed: 'Only the current certificate may renew.',
  sensor_revoked: 'This sensor was revoked.',
  certificate_unknown: 'No sensor has this certificate.',
  key_in_use: 'This key belongs to another sensor; a renewal needs a new one.',
  csr_refused: 'This key was used before; a renewal needs a new one.',
} as const;

type Wish = {
  readonly identity: IdentityRecord;
  readonly csrPem: string;
  readonly nowMs: number;
  readonly from: string | undefined;
};

/** Makes the action of the renewal route. */
export function createRenewal(deps: RenewalDeps): Renewal {
  return async ({ identity, csrPem, from }) => {
    const wish = { identity, csrPem, from, nowMs: deps.now() };
    const csr = checkWish(deps, wish);
    if (csr.ok) return orUnavailable(() => renew(deps, wish, csr));
    // From here on the registry keeps the trail itself, inside its transaction.
    await record(deps, {
      atMs: wish.nowMs,
      actor: `sensor:${identity.sensorId}`,
      action: 'sensor.renew',
      target: identity.sensorId,
      result: csr.code,
      from,
      detail: {},
    });
    return csr;
  };
}

function checkWish(deps: RenewalDeps, { identity, csrPem }: Wish): CheckedCsr | Refusal {
  if (!mayRenew(identity)) {
    return refuse('renewal_not_allowed', REFUSED_BECAUSE.renewal_not_allowed);
  }
  const csr = deps.certificates.checkCsr({ csrPem, nodeName: identity.nodeName });
  return csr.ok ? csr : refuse('csr_refused', csr.detail);
}

async function renew(
  deps: RenewalDeps,
  { identity, nowMs, from }: Wish,
  csr: CheckedCsr,
): Promise<{ readonly ok: true; readonly response: RenewResponse } | Refusal> {
  const certificate = await issueCertificate(deps.certificates, {
    csr,
    sensorId: identity.sensorId,
    nodeName: identity.nodeName,
    nowMs,
    ttlMs: deps.intervals.CLIENT_CERTIFICATE_TTL_MS,
    backdateMs: deps.intervals.CERTIFICATE_BACKDATE_MS,
    chance: deps.chance ?? systemChance,
  });
  const done = await deps.registry.addPendingCertificate({
    byFingerprint: identity.fingerprint,
    nowMs,
    certificate,
    from,
  });
  if (!done.ok) return refuse(done.code, REFUSED_BECAUSE[done.code]);
  deps.cache.apply(identity.sensorId, done.identities);
  return {
    ok: true,
    response: {
      control_plane_certificate_pem: done.certificate.pem,
      control_plane_ca_certificate_pem: deps.certificates.rootsPem,
      certificate_expires_at: new Date(done.certificate.notAfterMs).toISOString(),
      certificate_reference: done.certificate.reference,
    },
  };
}

/** Makes the judge of every request and frame. A known current certificate is judged without waiting. */
export function createAuthenticate(
  deps: Pick<RenewalDeps, 'registry' | 'cache' | 'sensors' | 'now'>,
): Authenticate {
  const activating = new Map<string, Promise<IdentityVerdict>>();

  async function activate(identity: IdentityRecord): Promise<IdentityVerdict> {
    const nowMs = deps.now();
    const outcome = await orUnavailable(async () => ({
      ok: true as const,
      identities: await deps.registry.activateCertificate({
        fingerprint: identity.fingerprint,
        nowMs,
      }),
    }));
    if (!outcome.ok) return outcome;
    deps.cache.apply(identity.sensorId, outcome.identities);
    const verdict = deps.cache.judge(identity.fingerprint, deps.now());
    if (!verdict.ok) return verdict;
    if (verdict.identity.status === 'pending') {
      throw new Error('an activated certificate is still pending');
    }
    const { notAfterMs } = verdict.identity;
    deps.sensors.tell(identity.sensorId, {
      type: 'certificate.changed',
      // The answer may have taken long: what the actor counts from is the present.
      atMs: deps.now(),
      notAfterMs,
    });
    return verdict;
  }

  return (fingerprint) => {
    const verdict = deps.cache.judge(fingerprint, deps.now());
    if (!verdict.ok || verdict.identity.status !== 'pending') return verdict;
    const { identity } = verdict;
    const running = activating.get(identity.fingerprint);
    if (running !== undefined) return running;
    const started = activate(identity).finally(() => activating.delete(identity.fingerprint));
    activating.set(identity.fingerprint, started);
    return started;
  };
}
