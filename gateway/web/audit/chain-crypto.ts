// What computes in a browser what `actors/audit/` computes in the Console: the hash of a row at its place, the signature
// of a checkpoint, the fingerprint of its key. Tested against each other, byte for byte. decision: D95
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import canonicalize from 'canonicalize';
import {
  type AuditCheckpoint,
  CHECKPOINT_PREFIX,
  hashedContent,
  signedContent,
  type TrailCrypto,
} from '../../../machines/trust/audit-trail.rules.ts';
import { isGenuineInTab } from './ed25519.ts';

const KEY_BYTES = 32;
/** SubjectPublicKeyInfo of Ed25519 up to the key itself. */
const SPKI_HEAD = '302a300506032b6570032100';
const PEM = /^-----BEGIN PUBLIC KEY-----\s+([A-Za-z0-9+/=\s]+?)-----END PUBLIC KEY-----\s*$/;
const encoder = new TextEncoder();

/** Hashes and checks with nothing but this tab. */
export const BROWSER_CRYPTO: TrailCrypto = {
  hashOf: (row, place) =>
    bytesToHex(sha256(encoder.encode(canonicalize(hashedContent(row, place)) ?? ''))),
  isSigned: (checkpoint) => {
    try {
      return isSigned(checkpoint);
    } catch {
      return false;
    }
  },
  fingerprintOf: (publicKeyPem) => {
    const hex = bytesToHex(sha256(derOf(publicKeyPem))).toUpperCase();
    return (hex.match(/../g) ?? []).join(':');
  },
};

function isSigned(checkpoint: AuditCheckpoint): boolean {
  const der = derOf(checkpoint.publicKeyPem);
  const head = bytesToHex(der.slice(0, -KEY_BYTES));
  if (head !== SPKI_HEAD) return false;
  const content = canonicalize(signedContent(checkpoint)) ?? '';
  const message = encoder.encode(`${CHECKPOINT_PREFIX}${content}`);
  return isGenuineInTab(bytesOf(checkpoint.signature), message, der.slice(-KEY_BYTES));
}

/** Throws on what is no PEM of a public key. */
function derOf(pem: string): Uint8Array {
  const [, base64] = PEM.exec(pem.trimStart()) ?? [];
  if (base64 === undefined) throw new Error('this is no public key');
  return bytesOf(base64.replaceAll(/\s/g, ''));
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}
