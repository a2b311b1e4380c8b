// Builds and signs one X.509 certificate. node-forge lays out the TBS bytes, `node:crypto` signs them: forge's own
// signing blocks the event loop, and it cannot hold EC keys, so its key is a placeholder that the real
// SubjectPublicKeyInfo replaces before anything is signed. decision: D11
import { createHash, createPublicKey, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import forge from 'node-forge';
import { readChildren, readElement, writeElement } from './der.ts';
import { layOutTbs, utf8Fields } from './unsafe-forge.ts';

const { pki } = forge;
const TAG = { bitString: 0x03, octets: 0x04, sequence: 0x30, context0: 0x80 } as const;
const SHA256_WITH_RSA_OID = '1.2.840.113549.1.1.11';
const SHA256_WITH_RSA = Buffer.from('300d06092a864886f70d01010b0500', 'hex');
const KEY_IDENTIFIER_BYTES = 20;
const SERIAL_PATTERN = /^[1-7][0-9a-f]{15,38}$/;
const DISTINGUISHED_NAME_PATTERN = /^[\x20-\x7e]{1,64}$/;

export type AlternativeName = { readonly kind: 'uri' | 'host'; readonly value: string };
export type Purpose = 'authority' | 'server' | 'client';

export type CertificateRequest = {
  readonly purpose: Purpose;
  readonly serial: string;
  readonly commonName: string;
  readonly organization: string;
  readonly publicKeySpki: Buffer;
  readonly alternativeNames: readonly AlternativeName[];
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
};
export type Issuer = {
  readonly privateKey: KeyObject;
  /** Absent for a self-signed root. */
  readonly certificate?: X509Certificate;
};

/** Signs a certificate with SHA-256 and the issuer's RSA key; the signing itself runs outside the event loop. */
export async function buildCertificate(
  request: CertificateRequest,
  issuer: Issuer,
): Promise<X509Certificate> {
  assertRequest(request);
  const certificate = pki.createCertificate();
  certificate.serialNumber =
    request.serial.length % 2 === 0 ? request.serial : `0${request.serial}`;
  certificate.validity.notBefore = new Date(request.notBeforeMs);
  certificate.validity.notAfter = new Date(request.notAfterMs);
  const subject = subjectOf(request);
  certificate.setSubject(subject);
  certificate.setIssuer(
    issuer.certificate
      ? pki.certificateFromPem(issuer.certificate.toString()).subject.attributes
      : subject,
  );
  const issuerSpki = issuer.certificate
    ? issuer.certificate.publicKey.export({ format: 'der', type: 'spki' })
    : request.publicKeySpki;
  certificate.setExtensions(extensionsOf(request, issuerSpki));
  certificate.publicKey = pki.setRsaPublicKey(
    new forge.jsbn.BigInteger('3'),
    new forge.jsbn.BigInteger('3'),
  );
  certificate.siginfo.algorithmOid = SHA256_WITH_RSA_OID;
  const tbsDer = layOutTbs(certificate, request.publicKeySpki);
  const signature = await signAsync(tbsDer, issuer.privateKey);
  const built = new X509Certificate(wrap(tbsDer, signature));
  if (!built.verify(createPublicKey(issuer.privateKey)))
    throw new Error('the certificate just made does not verify');
  return built;
}

function assertRequest(request: CertificateRequest): void {
  if (!SERIAL_PATTERN.test(request.serial)) throw new Error('a serial is 16 to 39 hex digits');
  if (!DISTINGUISHED_NAME_PATTERN.test(request.commonName)) throw new Error('bad common name');
  if (!DISTINGUISHED_NAME_PATTERN.test(request.organization)) throw new Error('bad organization');
  if (!(request.notBeforeMs < request.notAfterMs)) throw new Error('a validity must not be empty');
}

function subjectOf(request: CertificateRequest): forge.pki.CertificateField[] {
  return utf8Fields([
    { name: 'organizationName', value: request.organization },
    { name: 'commonName', value: request.commonName },
  ]);
}

function extensionsOf(request: CertificateRequest, issuerSpki: Buffer): object[] {
  const isAuthority = request.purpose === 'authority';
  const extensions: object[] = [
    { name: 'basicConstraints', critical: true, cA: isAuthority },
    isAuthority
      ? { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true }
      : { name: 'keyUsage', critical: true, digitalSignature: true },
    { id: '2.5.29.14', value: octets(keyIdentifier(request.publicKeySpki)) },
    { id: '2.5.29.35', value: authorityKeyIdentifier(keyIdentifier(issuerSpki)) },
  ];
  if (request.purpose === 'server') extensions.push({ name: 'extKeyUsage', serverAuth: true });
  if (request.purpose === 'client') extensions.push({ name: 'extKeyUsage', clientAuth: true });
  if (request.alternativeNames.length > 0) {
    const altNames = request.alternativeNames.map(toForgeName);
    extensions.push({ name: 'subjectAltName', altNames });
  }
  return extensions;
}

function toForgeName({ kind, value }: AlternativeName): object {
  if (kind === 'uri') return { type: 6, value };
  return isIP(value) > 0 ? { type: 7, ip: value } : { type: 2, value };
}

/** RFC 7093, method 1: the leftmost 160 bits of the SHA-256 of the public key bits. */
function keyIdentifier(spki: Buffer): Buffer {
  const [, bits] = readChildren(readElement(spki), TAG.sequence, 2);
  if (bits?.tag !== TAG.bitString) throw new Error('a public key has no bit string');
  const digest = createHash('sha256').update(bits.content.subarray(1)).digest();
  return digest.subarray(0, KEY_IDENTIFIER_BYTES);
}

function octets(bytes: Buffer): string {
  return writeElement(TAG.octets, [bytes]).toString('latin1');
}

function authorityKeyIdentifier(identifier: Buffer): string {
  const key = writeElement(TAG.context0, [identifier]);
  return writeElement(TAG.sequence, [key]).toString('latin1');
}

function wrap(tbsDer: Buffer, signature: Buffer): Buffer {
  const bits = writeElement(TAG.bitString, [Buffer.of(0), signature]);
  return writeElement(TAG.sequence, [tbsDer, SHA256_WITH_RSA, bits]);
}

function signAsync(bytes: Buffer, key: KeyObject): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    sign('sha256', bytes, key, (error, signature) => (error ? reject(error) : resolve(signature)));
  });
}
