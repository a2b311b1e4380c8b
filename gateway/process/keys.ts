// The keys of a Console's data directory. invariant: I7
import { join } from 'node:path';
import { openAuditCheckpointKey } from '../../storage/keys/audit-checkpoint-key.ts';
import { openPolicySigningKey } from '../../storage/keys/policy-signing-key.ts';
import { openSealer } from '../../storage/keys/sealer.ts';
import { openSecretFile } from '../../storage/keys/secret-file.ts';
import type { OpenSigningKeyResult, SigningKey } from '../../storage/keys/signing-key.ts';
import type { ConsoleConfig } from '../config/config.ts';
import type { ConsoleKeys } from '../console-ports.ts';

/** The key that seals what has to be read again. */
export const SEALER_FILE = 'operator-secrets.key';

/** Where they lie. */
export function keysFolder({ dataDir }: Pick<ConsoleConfig, 'dataDir'>): string {
  return join(dataDir, 'keys');
}

/** Opens each when it is asked for; throws why one cannot be used. */
export function keysOf(config: Pick<ConsoleConfig, 'dataDir'>): ConsoleKeys {
  const folder = keysFolder(config);
  return {
    policySigning: async () => opened(await openPolicySigningKey({ folder })),
    operatorSecrets: () => openSealer({ folder, name: SEALER_FILE }),
    pageLinks: () => openSecretFile({ folder, name: 'page-links.key', bytes: 32 }),
    auditCheckpoints: async () => opened(await openAuditCheckpointKey({ folder })),
  };
}

function opened(result: OpenSigningKeyResult): SigningKey {
  if (!result.ok) throw new Error(result.reason);
  return result.key;
}
