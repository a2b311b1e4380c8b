// The certificates of the listener: made or taken at the start, and renewed in process before they expire.
import {
  type CertificateAuthority,
  openCertificateAuthority,
} from '../../storage/keys/certificate-authority.ts';
import {
  isServerRenewalDue,
  prepareTlsAssets,
  type TlsAssets,
} from '../../storage/keys/tls-assets.ts';
import type { ConsoleConfig } from '../config/config.ts';
import { keepServerCertificateFresh } from './certificate-renewal.ts';
import { serverNames } from './server-names.ts';
import { keysFolder, need, type StepContext } from './start-context.ts';
import { processTime } from './time.ts';

/** Opens the certificate authority and prepares the listener's certificate. */
export async function prepareTls({
  config,
  built,
  logger,
}: Pick<StepContext, 'config' | 'built' | 'logger'>) {
  const nowMs = processTime.now();
  const opened = await openCertificateAuthority({ folder: keysFolder(config), nowMs });
  if (!opened.ok) throw new Error(opened.reason);
  built.authority = opened.authority;
  built.tls = await tlsAssets(config, opened.authority);
  logger.info(
    { source: built.tls.source, caFingerprint: built.tls.serverCaFingerprintSha256 },
    'TLS assets are ready',
  );
  return 'done' as const;
}

async function tlsAssets(
  config: ConsoleConfig,
  authority: CertificateAuthority,
): Promise<TlsAssets> {
  const { tls } = config;
  const prepared = await prepareTlsAssets({
    folder: keysFolder(config),
    authority,
    names: serverNames(config.baseUrl),
    nowMs: processTime.now(),
    ...(tls === null
      ? {}
      : { operator: { certPath: tls.cert, keyPath: tls.key, caPath: tls.ca ?? tls.cert } }),
  });
  if (!prepared.ok) throw new Error(prepared.mistakes.join('; '));
  return prepared.assets;
}

/** Swaps the listener's certificate for a new one whenever it is due. */
export function startRenewal({ config, built, closers, clock, logger }: StepContext): void {
  const stop = keepServerCertificateFresh({
    clock,
    logger,
    isDue: () => isServerRenewalDue(need(built, 'tls').tls, processTime.now()),
    async renew() {
      built.tls = await tlsAssets(config, need(built, 'authority').authority);
      const swapped = need(built, 'listener').listener.swap(built.tls);
      if (!swapped.ok) throw new Error(swapped.reason);
      logger.info('the server certificate was renewed');
    },
  });
  closers.push(stop);
}
