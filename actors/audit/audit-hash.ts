// The hash of an audit row at its place, and the signature over a checkpoint. Both are over canonical JSON (RFC 8785),
// so the same row gives the same bytes wherever it was read. decision: D35; invariant: I17
import { createPublicKey, hash, verify } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { AuditCheckpoint, ChainHead } from '../../storage/ports/audit/audit-chain.ts';
import type { AuditRow } from '../../storage/ports/audit/audit-log.ts';

const CHECKPOINT_PREFIX = 'service-audit-checkpoint-v1:';

/** What is hashed of a row: everything but its own place and hash, which come with `place`. */
export type HashedRow = Omit<AuditRow, 'sequence' | 'hash'>;

/** SHA-256 of a row whose sequence is `place.sequence` and which follows the row with `place.hash`. */
export function hashOfRow(row: HashedRow, place: ChainHead): string {
  const content = {
    audit_id: row.auditId,
    at_ms: row.atMs,
    actor: row.actor,
    action: row.action,
    target: row.target,
    result: row.result,
    from: row.from,
    before: row.before,
    after: row.after,
    detail: row.detail,
    sequence: place.sequence,
    previous: place.hash,
  };
  return hash('sha256', canonicalize(content) ?? '', 'hex');
}

/** The bytes a checkpoint's signature is over. */
export function checkpointBytes({ sequence, hash: head, atMs }: Omit<Signed, 'signature'>): Buffer {
  const content = canonicalize({ sequence, hash: head, at_ms: atMs }) ?? '';
  return Buffer.from(`${CHECKPOINT_PREFIX}${content}`);
}

/** Whether a checkpoint is signed by the key it names; false for anything that is no such key. */
export function isSignedCheckpoint(checkpoint: AuditCheckpoint): boolean {
  try {
    const key = createPublicKey(checkpoint.publicKeyPem);
    const signature = Buffer.from(checkpoint.signature, 'base64');
    return (
      key.asymmetricKeyType === 'ed25519' &&
      verify(null, checkpointBytes(checkpoint), key, signature)
    );
  } catch {
    return false;
  }
}

/** SHA-256 of a public key as people compare it: colon-separated upper-case hex of its SubjectPublicKeyInfo. */
export function fingerprintOfKey(publicKeyPem: string): string {
  const der = createPublicKey(publicKeyPem).export({ format: 'der', type: 'spki' });
  return hash('sha256', der, 'hex').toUpperCase().match(/../g)?.join(':') ?? '';
}

type Signed = Pick<AuditCheckpoint, 'sequence' | 'hash' | 'atMs' | 'signature'>;
