// PEM texts that hold one or more certificates, and the fingerprint that names one.
import { createHash, X509Certificate } from 'node:crypto';

const CERTIFICATE_BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** Every certificate of a PEM text in its order; throws what the parser says about a broken one. */
export function readCertificates(pem: string): X509Certificate[] {
  return (pem.match(CERTIFICATE_BLOCK) ?? []).map((block) => new X509Certificate(block));
}

/** SHA-256 over the DER bytes, lower-case hex without separators: the name of a certificate. invariant: I9 */
export function fingerprintOf(certificate: X509Certificate): string {
  return certificate.fingerprint256.replaceAll(':', '').toLowerCase();
}

/** Whether now lies inside the certificate's validity. */
export function isInsideValidity(certificate: X509Certificate, nowMs: number): boolean {
  return certificate.validFromDate.getTime() <= nowMs && nowMs < certificate.validToDate.getTime();
}

/** Whether `issuer` is a CA that signed `certificate`; names and the signature are both checked. */
export function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/** Base64 of the SHA-256 of a certificate's public key (SPKI), as `curl --pinnedpubkey` takes it. */
export function keyPinOf(certificate: X509Certificate): string {
  const spki = certificate.publicKey.export({ format: 'der', type: 'spki' });
  return createHash('sha256').update(spki).digest('base64');
}
