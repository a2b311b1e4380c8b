// What a PEM file says about its public key. Null for text that is torn or foreign; nothing here throws.
import { createHash, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';

const SENSOR_URI = /URI:urn:service:sensor:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:,|$)/;

export type CertificateFactsOfPem = {
  readonly keyDigest: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** From the SAN that the Console sets. */
  readonly sensorId: string | null;
};

/** The digest of a private key's public half. */
export function keyDigest(keyPem: string): string | null {
  try {
    return digestOf(createPublicKey(keyPem));
  } catch {
    return null;
  }
}

/** What a certificate says, without trusting it. */
export function certificateFacts(certPem: string): CertificateFactsOfPem | null {
  try {
    const certificate = new X509Certificate(certPem);
    const notBeforeMs = Date.parse(certificate.validFrom);
    const notAfterMs = Date.parse(certificate.validTo);
    // A torn date is read as `Bad time value`; nobody could say when such a certificate begins or ends.
    if (Number.isNaN(notBeforeMs) || Number.isNaN(notAfterMs)) return null;
    return {
      keyDigest: digestOf(certificate.publicKey),
      ...{ notBeforeMs, notAfterMs },
      sensorId: SENSOR_URI.exec(certificate.subjectAltName ?? '')?.[1] ?? null,
    };
  } catch {
    return null;
  }
}

function digestOf(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex');
}
