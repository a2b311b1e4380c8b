// The CA that an operator names for one destination.
import { X509Certificate } from 'node:crypto';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** Whether a text is certificates in PEM, and nothing else. */
export function areCertificates(pem: string): boolean {
  const found = pem.match(CERTIFICATE) ?? [];
  if (found.length === 0 || pem.replaceAll(CERTIFICATE, '').trim() !== '') return false;
  try {
    for (const one of found) new X509Certificate(one);
    return true;
  } catch {
    return false;
  }
}
