// The keys with which simulated Consoles sign their checkpoints: a digest instead of a signature, so that a run stays
// the same run. Nobody in the world forges one.
import { hash } from 'node:crypto';
import { checkpointBytes } from '../../../actors/audit/audit-hash.ts';
import type { CheckpointSigner } from '../../../actors/audit/audit-sealer.ts';
import type { AuditCheckpoint } from '../../../storage/ports/audit/audit-chain.ts';

/** The key of a Console, kept in its data directory through all its lives. */
export function worldSigner(console: string): CheckpointSigner {
  const publicKeyPem = `world audit key of ${console}`;
  return { publicKeyPem, sign: (bytes) => digest(publicKeyPem, bytes) };
}

/** Whether a checkpoint was signed with the key it names. */
export function isWorldSigned(checkpoint: AuditCheckpoint): boolean {
  const { publicKeyPem, signature } = checkpoint;
  const wanted = Buffer.from(digest(publicKeyPem, checkpointBytes(checkpoint)));
  return signature === wanted.toString('base64');
}

function digest(key: string, bytes: Uint8Array): Uint8Array {
  return hash('sha256', Buffer.concat([Buffer.from(key), bytes]), 'buffer');
}
