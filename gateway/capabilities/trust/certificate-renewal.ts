// Renews the generated server certificate while the Console runs, and swaps the listener to it. decision: D11
import type { UpkeepLoop } from '../../../actors/loops/loop.ts';
import { SERVER_RENEWAL_CHECK_MS } from '../../../machines/limits.ts';
import type { ConsoleContext } from '../../capability.ts';

/** The loop that looks whether it is due; the certificate lies in the data directory. */
export function serverCertificateLoop(context: ConsoleContext): UpkeepLoop {
  return {
    name: 'server-certificate',
    runsOn: 'machine',
    everyMs: SERVER_RENEWAL_CHECK_MS,
    async run() {
      if (!context.certificates.isRenewalDue()) return undefined;
      const swapped = context.listener.swap(await context.certificates.renew());
      if (!swapped.ok) throw new Error(swapped.reason);
      context.logger.info('the server certificate was renewed');
      return undefined;
    },
  };
}
