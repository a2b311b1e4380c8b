// The Ed25519 key that signs checkpoints of the audit trail, in `audit-checkpoint.ed25519`. Its public half lies beside it
// in `audit-checkpoint.pub.pem`: who verifies a trail elsewhere takes it from here and not from the trail. invariant: I7
import { join } from 'node:path';
import { writeFileDurably } from './key-files.ts';
import { type OpenSigningKeyResult, openSigningKey } from './signing-key.ts';

/** Opens the key of a folder, and makes it at first start; a file that cannot be used is never replaced. */
export async function openAuditCheckpointKey({
  folder,
}: {
  readonly folder: string;
}): Promise<OpenSigningKeyResult> {
  const opened = await openSigningKey({
    folder,
    name: 'audit-checkpoint.ed25519',
    what: 'the audit checkpoint key',
  });
  if (opened.ok) {
    const file = join(folder, 'audit-checkpoint.pub.pem');
    await writeFileDurably(file, opened.key.publicKeyPem, 'public');
  }
  return opened;
}
