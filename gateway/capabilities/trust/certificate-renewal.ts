// Renews the generated server certificate while the Console runs, and swaps the listener to it. decision: D11
import type { Logger } from '../../../actors/runtime/logger.ts';
import type { WheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { SERVER_RENEWAL_CHECK_MS } from '../../../machines/limits.ts';

/** Looks regularly and renews when due; a failure is logged and tried again. Returns a stop function. */
export function keepServerCertificateFresh(options: {
  readonly clock: WheelClock;
  readonly logger: Logger;
  readonly isDue: () => boolean;
  readonly renew: () => Promise<void>;
}): () => void {
  const { clock, logger, isDue, renew } = options;
  let isStopped = false;
  const tick = (): void => {
    if (isStopped) return;
    (isDue() ? renew() : Promise.resolve())
      .catch((error: unknown) =>
        logger.error({ error: String(error) }, 'the server certificate could not be renewed'),
      )
      .finally(() => clock.setTimeout(tick, SERVER_RENEWAL_CHECK_MS));
  };
  clock.setTimeout(tick, SERVER_RENEWAL_CHECK_MS);
  return () => {
    isStopped = true;
  };
}
