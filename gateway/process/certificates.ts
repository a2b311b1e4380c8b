// The certificates of a Console's data directory: its authority, and the listener's, made or taken at the start and made
// again before it expires. decision: D11
import type { Logger } from '../../actors/runtime/logger.ts';
import {
  CLIENT_CERTIFICATE_TTL_MS,
  SENSOR_KEY_BITS,
  SENSOR_KEY_OLD_BITS,
} from '../../machines/limits.ts';
import {
  type CertificateAuthority,
  newSerial,
  openCertificateAuthority,
} from '../../storage/keys/certificate-authority.ts';
import { checkCsr } from '../../storage/keys/csr.ts';
import { oldSensorKeysUntil } from '../../storage/keys/key-journal.ts';
import {
  isServerRenewalDue,
  prepareTlsAssets,
  type TlsAssets,
} from '../../storage/keys/tls-assets.ts';
import type { ConsoleConfig } from '../config/config.ts';
import type { ConsoleCertificates } from '../console-ports.ts';
import { keysFolder } from './keys.ts';
import { serverNames } from './server-names.ts';
import { processTime } from './time.ts';

/** Opens the certificate authority and prepares the listener's certificate. Throws every mistake. */
export async function openCertificates(
  config: Pick<ConsoleConfig, 'dataDir' | 'baseUrl' | 'bind' | 'tls'>,
  logger: Logger,
): Promise<ConsoleCertificates & { tls(): TlsAssets }> {
  const nowMs = processTime.now();
  const opened = await openCertificateAuthority({ folder: keysFolder(config), nowMs });
  if (!opened.ok) throw new Error(opened.reason);
  const { authority } = opened;
  const oldKeysUntilMs = await oldSensorKeysUntil(keysFolder(config), {
    ...{ isNew: opened.created, nowMs, lifetimeMs: CLIENT_CERTIFICATE_TTL_MS },
  });
  let inForce = await tlsAssets(config, authority);
  logger.info(
    { source: inForce.source, caFingerprint: inForce.serverCaFingerprintSha256 },
    'TLS assets are ready',
  );
  return {
    sensors: {
      checkCsr: (request) =>
        checkCsr({
          ...request,
          minBits: processTime.now() < oldKeysUntilMs ? SENSOR_KEY_OLD_BITS : SENSOR_KEY_BITS,
        }),
      newSerial,
      issueSensorCertificate: (request) => authority.issueSensorCertificate(request),
      get rootsPem() {
        return inForce.serverCaPem;
      },
    },
    tls: () => inForce,
    isRenewalDue: () => isServerRenewalDue(inForce, processTime.now()),
    async renew() {
      inForce = await tlsAssets(config, authority);
      return inForce;
    },
  };
}

async function tlsAssets(
  config: Pick<ConsoleConfig, 'dataDir' | 'baseUrl' | 'bind' | 'tls'>,
  authority: CertificateAuthority,
): Promise<TlsAssets> {
  const { tls } = config;
  const prepared = await prepareTlsAssets({
    folder: keysFolder(config),
    authority,
    names: serverNames(config.baseUrl, config.bind),
    nowMs: processTime.now(),
    ...(tls === null
      ? {}
      : { operator: { certPath: tls.cert, keyPath: tls.key, caPath: tls.ca ?? tls.cert } }),
  });
  if (!prepared.ok) throw new Error(prepared.mistakes.join('; '));
  return prepared.assets;
}
