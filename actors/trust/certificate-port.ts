// What enrollment and renewal need of the Console's certificate authority; its keys stay behind it.
import { CERTIFICATE_BACKDATE_MS } from '../../machines/limits.ts';
import type { CertificateRow } from '../../storage/ports/fleet/sensor-registry.ts';
import { type Chance, systemChance } from './chance.ts';

export type CheckedCsr = {
  readonly ok: true;
  readonly publicKeySpki: Buffer;
  /** SHA-256 of the public key: tells a repeat from a new key. */
  readonly keyDigest: string;
};
export type RefusedCsr = {
  readonly ok: false;
  readonly code: 'csr_refused';
  readonly detail: string;
};

export type SensorCertificates = {
  /** Size, subject, key and proof of possession of a request. Never throws. */
  checkCsr(request: {
    readonly csrPem: string;
    readonly nodeName: string;
  }): CheckedCsr | RefusedCsr;
  /** Signs a sensor's key; every other field of the certificate is chosen by the Console. */
  issueSensorCertificate(request: {
    readonly publicKeySpki: Buffer;
    readonly nodeName: string;
    readonly sensorId: string;
    readonly notBeforeMs: number;
    readonly notAfterMs: number;
    readonly serial: string;
  }): Promise<Omit<CertificateRow, 'reference' | 'keyDigest'>>;
  newSerial(): string;
  /** The roots a sensor trusts, PEM. */
  readonly rootsPem: string;
};

/** Issues a certificate for a checked key and gives it its reference. */
export async function issueCertificate(
  certificates: SensorCertificates,
  input: {
    readonly csr: CheckedCsr;
    readonly sensorId: string;
    readonly nodeName: string;
    readonly nowMs: number;
    readonly ttlMs: number;
    readonly backdateMs?: number;
    readonly chance?: Pick<Chance, 'newId'>;
  },
): Promise<CertificateRow> {
  const { csr, sensorId, nodeName, nowMs, ttlMs, backdateMs = CERTIFICATE_BACKDATE_MS } = input;
  const { chance = systemChance } = input;
  const issued = await certificates.issueSensorCertificate({
    publicKeySpki: csr.publicKeySpki,
    nodeName,
    sensorId,
    notBeforeMs: nowMs - backdateMs,
    notAfterMs: nowMs + ttlMs,
    serial: certificates.newSerial(),
  });
  return {
    reference: chance.newId(),
    keyDigest: csr.keyDigest,
    pem: issued.pem,
    serial: issued.serial,
    fingerprint: issued.fingerprint,
    notBeforeMs: issued.notBeforeMs,
    notAfterMs: issued.notAfterMs,
  };
}
