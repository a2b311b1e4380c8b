// Whether the Console has forgotten an identity that is whole on this node: its database went back to a time before the
// enrollment. Asked only when somebody gave a token for a new one, and twice: a Console may not have heard yet of a certificate
// that is new, but none for longer than its view of the fleet may be old. decision: D10, D171

import type { WheelClock } from '../../actors/runtime/wheel-clock.ts';
import { REVOCATION_VIEW_MAX_AGE_MS, WHEEL_TICK_MS } from '../../machines/limits.ts';
import { kindOfSecret } from '../../machines/trust/secret.rules.ts';
import { SENSOR_PATHS } from '../../machines/wire/enrollment.ts';
import type { SensorConfig } from '../config/config.ts';
import type { Identity } from '../state-directory/identity.ts';
import type { ConsoleClient } from '../transport/console-client.ts';

// It changes nothing and proves the certificate.
const EMPTY_INVENTORY = JSON.stringify({ is_full_snapshot: false, sections: {} });

const AGAIN_AFTER_MS = REVOCATION_VIEW_MAX_AGE_MS + WHEEL_TICK_MS;

/** False also when nobody answers: an identity is given up only for the Console's own word. */
export async function isForgotten(
  client: Pick<ConsoleClient, 'post' | 'useIdentity'>,
  { keyPem, certPem, caPem }: Pick<Identity, 'keyPem' | 'certPem' | 'caPem'>,
  of: {
    readonly config: SensorConfig;
    readonly token: string | null;
    readonly clock: Pick<WheelClock, 'setTimeout'>;
  },
): Promise<boolean> {
  const { config, token, clock } = of;
  if (token === null || kindOfSecret(token) !== 'enrollment') return false;
  client.useIdentity({ keyPem, certPem, caPem });
  const isUnknown = async (): Promise<boolean> => {
    const answer = await client.post(SENSOR_PATHS.inventory, EMPTY_INVENTORY, {
      timeoutMs: config.intervals.HEARTBEAT_TIMEOUT_MS,
    });
    return !answer.ok && answer.kind === 'refused' && answer.code === 'certificate_unknown';
  };
  if (!(await isUnknown())) return false;
  await new Promise<void>((resolve) => clock.setTimeout(() => resolve(), AGAIN_AFTER_MS));
  return isUnknown();
}
