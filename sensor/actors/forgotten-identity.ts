// Whether the Console has forgotten an identity that is whole on this node: its database went back to a time before the
// enrollment. Asked only when somebody gave a token for a new one. decision: D171

import { kindOfSecret } from '../../machines/trust/secret.rules.ts';
import { SENSOR_PATHS } from '../../machines/wire/enrollment.ts';
import type { SensorConfig } from '../config/config.ts';
import type { Identity } from '../state-directory/identity.ts';
import type { ConsoleClient } from '../transport/console-client.ts';

// It changes nothing and proves the certificate.
const EMPTY_INVENTORY = JSON.stringify({ is_full_snapshot: false, sections: {} });

/** False also when nobody answers: an identity is given up only for the Console's own word. */
export async function isForgotten(
  client: Pick<ConsoleClient, 'post' | 'useIdentity'>,
  { keyPem, certPem, caPem }: Pick<Identity, 'keyPem' | 'certPem' | 'caPem'>,
  { config, token }: { readonly config: SensorConfig; readonly token: string | null },
): Promise<boolean> {
  if (token === null || kindOfSecret(token) !== 'enrollment') return false;
  client.useIdentity({ keyPem, certPem, caPem });
  const answer = await client.post(SENSOR_PATHS.inventory, EMPTY_INVENTORY, {
    timeoutMs: config.intervals.HEARTBEAT_TIMEOUT_MS,
  });
  return !answer.ok && answer.kind === 'refused' && answer.code === 'certificate_unknown';
}
