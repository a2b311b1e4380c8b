// Certificates of the tests: an authority, and servers that it signs.
import { generateKeyPairSync } from 'node:crypto';
import forge from 'node-forge';

export type Pair = { readonly keyPem: string; readonly certPem: string };
export type Authority = Pair & { readonly name: string };

export const LOOPBACK = [{ type: 7, ip: '127.0.0.1' }];

/** A certificate over a key of its own; signed by itself without an authority. Valid for an hour by a clock so far ahead. */
export function certify(
  name: string,
  by: Authority | null,
  altNames: readonly object[] = [],
  aheadMs = 0,
): Pair {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const keyPem = privateKey.export({ format: 'pem', type: 'pkcs1' }).toString();
  const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(pem);
  certificate.serialNumber = `01${Buffer.from(name).toString('hex')}`;
  certificate.validity.notBefore = new Date(Date.now() + aheadMs - 60_000);
  certificate.validity.notAfter = new Date(Date.now() + aheadMs + 3_600_000);
  certificate.setSubject([{ name: 'commonName', value: name }]);
  certificate.setIssuer([{ name: 'commonName', value: by?.name ?? name }]);
  certificate.setExtensions([
    { name: 'basicConstraints', cA: by === null, critical: true },
    ...(altNames.length === 0 ? [] : [{ name: 'subjectAltName', altNames }]),
  ]);
  certificate.sign(forge.pki.privateKeyFromPem(by?.keyPem ?? keyPem), forge.md.sha256.create());
  return { keyPem, certPem: forge.pki.certificateToPem(certificate) };
}
