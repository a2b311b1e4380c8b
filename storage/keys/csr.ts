// Checks a certificate signing request. Only the public key is ever taken from it, and only after proof that the sender
// holds the private key; every other field of a certificate is chosen by the authority. decision: D11
// The request is foreign bytes: it is read by the bounded reader of der.ts, the signature is checked by `node:crypto`
// over the bytes as they came, and whatever goes wrong is `csr_refused`.
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import {
  CSR_MAX_BYTES,
  RSA_KEY_MAX_BITS,
  RSA_PUBLIC_EXPONENT,
  SENSOR_KEY_BITS,
} from '../../machines/limits.ts';
import { type DerElement, readChildren, readElement } from './der.ts';

const PEM =
  /^\s*-----BEGIN CERTIFICATE REQUEST-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END CERTIFICATE REQUEST-----\s*$/;
const ORGANIZATION = 'Service Sensor';

const TAG = {
  integer: 0x02,
  bitString: 0x03,
  oid: 0x06,
  utf8: 0x0c,
  sequence: 0x30,
  printable: 0x13,
  set: 0x31,
  attributes: 0xa0,
} as const;
const OID_COMMON_NAME = '550403';
const OID_ORGANIZATION = '55040a';
const RSA_WITH_PREFIX = '2a864886f70d0101';
/** Signature algorithms by OID: RSA with SHA-256, SHA-384, SHA-512; nothing weaker. */
const DIGESTS: Readonly<Record<string, string>> = {
  [`${RSA_WITH_PREFIX}0b`]: 'sha256',
  [`${RSA_WITH_PREFIX}0c`]: 'sha384',
  [`${RSA_WITH_PREFIX}0d`]: 'sha512',
};

export type CsrResult =
  | { readonly ok: true; readonly publicKeySpki: Buffer; readonly keyDigest: string }
  | { readonly ok: false; readonly code: 'csr_refused'; readonly detail: string };

export type CsrRequest = {
  readonly csrPem: string;
  readonly nodeName: string;
  /** The least size of the key. */
  readonly minBits?: number;
};

/** Checks one PEM request for one node name. Never throws. */
export function checkCsr({ csrPem, nodeName, minBits = SENSOR_KEY_BITS }: CsrRequest): CsrResult {
  try {
    return check({ csrPem, nodeName, minBits });
  } catch {
    return refused('the request cannot be read');
  }
}

function check({ csrPem, nodeName, minBits }: Required<CsrRequest>): CsrResult {
  if (Buffer.byteLength(csrPem) > CSR_MAX_BYTES)
    return refused(`the request is larger than ${CSR_MAX_BYTES} bytes`);
  const base64 = PEM.exec(csrPem)?.[1]?.replaceAll(/[\r\n]/g, '');
  if (base64 === undefined) return refused('exactly one PEM certificate request is expected');
  const der = Buffer.from(base64, 'base64');
  if (der.toString('base64') !== base64) return refused('the PEM text is not clean base64');
  const whole = readElement(der);
  if (whole.raw.length !== der.length) return refused('bytes follow the request');
  const [info, algorithm, signature, ...rest] = readChildren(whole, TAG.sequence, 3);
  if (!info || !algorithm || !signature || rest.length > 0)
    return refused('the request has another structure');
  const [version, subject, key, attributes] = readChildren(info, TAG.sequence, 4);
  if (version?.raw.toString('hex') !== '020100') return refused('the request is not version 1');
  if (!subject || !key) return refused('the request has no subject or no key');
  if (attributes && attributes.tag !== TAG.attributes)
    return refused('the request has another structure');
  const subjectMistake = findSubjectMistake(subject, nodeName);
  if (subjectMistake) return refused(subjectMistake);
  const publicKey = createPublicKey({ key: Buffer.from(key.raw), format: 'der', type: 'spki' });
  const keyMistake = findKeyMistake(publicKey, minBits);
  if (keyMistake) return refused(keyMistake);
  const publicKeySpki = publicKey.export({ format: 'der', type: 'spki' });
  if (!publicKeySpki.equals(key.raw)) return refused('the key has more than one encoding');
  const digest = readDigest(algorithm);
  if (!digest) return refused('the signature is not RSA with SHA-256, SHA-384 or SHA-512');
  if (signature.tag !== TAG.bitString || signature.content[0] !== 0)
    return refused('the request has another structure');
  if (!verify(digest, info.raw, publicKey, signature.content.subarray(1)))
    return refused('the request is not signed by its own key');
  const keyDigest = createHash('sha256').update(publicKeySpki).digest('hex');
  return { ok: true, publicKeySpki, keyDigest };
}

function findSubjectMistake(subject: DerElement, nodeName: string): string | undefined {
  const expected = new Map([
    [OID_COMMON_NAME, nodeName],
    [OID_ORGANIZATION, ORGANIZATION],
  ]);
  const names = readChildren(subject, TAG.sequence, expected.size);
  for (const name of names) {
    const [pair] = readChildren(name, TAG.set, 1);
    if (!pair) return 'the subject has an empty name';
    const [oid, value] = readChildren(pair, TAG.sequence, 2);
    if (oid?.tag !== TAG.oid || !value) return 'the subject has another structure';
    if (value.tag !== TAG.utf8 && value.tag !== TAG.printable)
      return 'the subject is not written as UTF-8 or printable text';
    const wanted = expected.get(oid.content.toString('hex'));
    if (wanted === undefined) return 'the subject must hold one CN and one O, nothing else';
    if (!value.content.equals(Buffer.from(wanted))) return 'the subject names something else';
    expected.delete(oid.content.toString('hex'));
  }
  return expected.size > 0 ? 'the subject must hold one CN and one O' : undefined;
}

function findKeyMistake(key: KeyObject, minBits: number): string | undefined {
  if (key.asymmetricKeyType !== 'rsa') return 'the key is not an RSA key';
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < minBits || bits > RSA_KEY_MAX_BITS)
    return `the key has ${bits} bits; ${minBits} to ${RSA_KEY_MAX_BITS} are accepted`;
  if (key.asymmetricKeyDetails?.publicExponent !== BigInt(RSA_PUBLIC_EXPONENT))
    return `the key's exponent is not ${RSA_PUBLIC_EXPONENT}`;
  return undefined;
}

function readDigest(algorithm: DerElement): string | undefined {
  const [oid, parameters] = readChildren(algorithm, TAG.sequence, 2);
  if (oid?.tag !== TAG.oid) return undefined;
  if (parameters && parameters.raw.toString('hex') !== '0500') return undefined;
  return DIGESTS[oid.content.toString('hex')];
}

function refused(detail: string): CsrResult {
  return { ok: false, code: 'csr_refused', detail };
}
