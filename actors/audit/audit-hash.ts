// The hash of an audit row at its place, and the signature over a checkpoint. Both are over canonical JSON (RFC 8785),
// so the same row gives the same bytes wherever it was read. decision: D35, D66; invariant: I17
import { createPublicKey, hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import {
  type AuditCheckpoint,
  CHECKPOINT_PREFIX,
  type ChainHead,
  type HashedRow,
  hashedContent,
  signedContent,
} from '../../machines/trust/audit-trail.rules.ts';
import { isSignedBy } from '../runtime/ed25519.ts';

/** SHA-256 of a row whose sequence is `place.sequence` and which follows the row with `place.hash`. */
export function hashOfRow(row: HashedRow, place: ChainHead): string {
  return hash('sha256', canonicalize(hashedContent(row, place)) ?? '', 'hex');
}

/** The bytes a checkpoint's signature is over. */
export function checkpointBytes(checkpoint: Omit<AuditCheckpoint, 'signature' | 'publicKeyPem'>) {
  return Buffer.from(`${CHECKPOINT_PREFIX}${canonicalize(signedContent(checkpoint)) ?? ''}`);
}

/** Whether a checkpoint is signed by the key it names; false for anything that is no such key. */
export function isSignedCheckpoint(checkpoint: AuditCheckpoint): boolean {
  try {
    const key = createPublicKey(checkpoint.publicKeyPem);
    const signature = Buffer.from(checkpoint.signature, 'base64');
    return isSignedBy(key, checkpointBytes(checkpoint), signature);
  } catch {
    return false;
  }
}

/** SHA-256 of a public key as people compare it: colon-separated upper-case hex of its SubjectPublicKeyInfo. */
export function fingerprintOfKey(publicKeyPem: string): string {
  const der = createPublicKey(publicKeyPem).export({ format: 'der', type: 'spki' });
  return hash('sha256', der, 'hex').toUpperCase().match(/../g)?.join(':') ?? '';
}
