// The Ed25519 key that signs checkpoints of the audit trail, in `audit-checkpoint.ed25519`. Its public half lies beside it
// in `audit-checkpoint.pub.pem`: who verifies a trail elsewhere takes it from here and not from the trail. invariant: I7
import { join } from 'node:path';
import { writeFileDurably } from './key-files.ts';
import { keyIdOf, noteKey } from './key-journal.ts';
import { makeKey, type OpenSigningKeyResult, openSigningKey } from './signing-key.ts';

const NAME = 'audit-checkpoint.ed25519';

/** Opens the key of a folder, and makes it at first start; a file that cannot be used is never replaced. */
export async function openAuditCheckpointKey({
  folder,
}: {
  readonly folder: string;
}): Promise<OpenSigningKeyResult> {
  const opened = await openSigningKey({
    folder,
    name: NAME,
    what: 'the audit checkpoint key',
  });
  if (opened.ok) {
    const file = join(folder, 'audit-checkpoint.pub.pem');
    await writeFileDurably(file, opened.key.publicKeyPem, 'public');
  }
  return opened;
}

/**
 * Makes another key the one that signs. The public half of the one before stays as `audit-checkpoint.<id>.pub.pem`, since
 * what it signed has to be verified; its private half is gone. decision: D70
 */
export async function rotateAuditCheckpointKey(
  folder: string,
  nowMs: number,
): Promise<OpenSigningKeyResult> {
  const before = await openAuditCheckpointKey({ folder });
  if (!before.ok) return before;
  const { publicKeyPem } = before.key;
  const id = keyIdOf('service-audit-checkpoint-v1', Buffer.from(publicKeyPem));
  await writeFileDurably(join(folder, `audit-checkpoint.${id}.pub.pem`), publicKeyPem, 'public');
  await noteKey(folder, { key: 'audit-checkpoint', what: 'rotated' }, nowMs);
  await makeKey(join(folder, NAME));
  return openAuditCheckpointKey({ folder });
}
