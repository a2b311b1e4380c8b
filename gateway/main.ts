// The program `service-console` as a Console: what it is put together from here is real. Beside the command line this is
// the only place that builds concrete clients. decision: D7, D17, D58
import { chmodSync, mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { collectDefaultMetrics } from '@prometheus-io/client';
import { commonPasswords } from '../actors/access/common-passwords.ts';
import { createProviderClient } from '../actors/access/sso/provider-client.ts';
import { outboundMail } from '../actors/outbound/outbound-mail.ts';
import { createOutboundPost } from '../actors/outbound/outbound-post.ts';
import { outboundStream } from '../actors/outbound/outbound-stream.ts';
import type { Logger } from '../actors/runtime/logger.ts';
import { createWheelClock } from '../actors/runtime/wheel-clock.ts';
import { systemChance } from '../actors/trust/chance.ts';
import { EVALUATION_SETTINGS } from '../machines/console/settings/settings.rules.ts';
import { createArgon2Hasher } from '../storage/keys/argon2-hasher.ts';
import { createRedisCounter } from '../storage/limits/redis-counter.ts';
import { CAPABILITIES } from './capabilities.ts';
import { setupFiles } from './cli/settings/setup-files.ts';
import { lockDataDir } from './cli/start/data-dir-lock.ts';
import { storePorts } from './cli/start/open-stores.ts';
import type { ConsoleConfig } from './config/config.ts';
import { type ConsoleStart, runConsole } from './console.ts';
import type { ConsolePorts } from './console-ports.ts';
import type { PageFiles } from './page/page-files.ts';
import { openCertificates } from './process/certificates.ts';
import { keysFolder, keysOf } from './process/keys.ts';
import { openLicenseTrust } from './process/license-trust.ts';
import { listenAt } from './process/listen.ts';
import { createSensorPackages } from './process/sensor-packages.ts';
import { ownAddresses } from './process/server-names.ts';
import { processTime } from './process/time.ts';

export type ConsoleOptions = {
  readonly config: ConsoleConfig;
  readonly version: string;
  readonly logger: Logger;
  /** Quick start heeds the license trust anchor of the environment. */
  readonly isQuickStart?: boolean;
  /** The web page; null or absent where none was built. */
  readonly page?: PageFiles | null;
  /** Aborts when the start is given up. */
  readonly givenUp?: AbortSignal;
};

/** Starts a Console; a step that fails is named with its reason, and nothing keeps running. */
export function startConsole(options: ConsoleOptions): Promise<ConsoleStart> {
  return runConsole(portsOf(options), CAPABILITIES);
}

function portsOf({
  config,
  version,
  logger,
  page = null,
  isQuickStart = false,
  givenUp,
}: ConsoleOptions): ConsolePorts {
  const { licenseTrustAnchor: anchorPath, redisUrl } = config;
  const { monotonicNow } = processTime;
  const onError = (error: unknown) => logger.error({ error: String(error) }, 'a timer failed');
  const clock = createWheelClock({ onError });
  const timers = processTime;
  return {
    ...{ config, version, logger, page, givenUp, clock, time: processTime, chance: systemChance },
    // Whoever tries the product out is let in at once; the banner says so. decision: D63
    ...(isQuickStart ? { settingDefaults: EVALUATION_SETTINGS } : {}),
    holder: `${hostname()}:${config.port}`,
    takeData: () => takeData(config.dataDir),
    keys: keysOf(config),
    ...storePorts({ config, clock, logger }),
    openLicenseTrust: () =>
      openLicenseTrust({ keysFolder: keysFolder(config), anchorPath, isQuickStart, logger }),
    openCertificates: () => openCertificates(config, logger),
    listen: (tls, attach) =>
      listenAt({ ...config, cacheDir: join(config.dataDir, 'runtime') }, tls, attach),
    hasher: createArgon2Hasher(),
    commonPasswords,
    openProviders: (allowList) => createProviderClient({ monotonicNow, allowList }),
    outboundMail,
    outboundPost: createOutboundPost(),
    outboundStream,
    // Never a reason not to start: without an answer this Console counts by itself. decision: D41
    openCounter: () =>
      redisUrl === null ? null : createRedisCounter({ url: redisUrl, timers, logger }),
    answers: setupFiles(config.dataDir),
    sensorPackages: createSensorPackages({ version, logger }),
    ownAddresses,
    measureProcess: (register) => collectDefaultMetrics({ register }),
    afterParsing: setImmediate,
  };
}

// The database's own user must be able to pass through; what is secret lies in folders of mode 700 below.
function takeData(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  chmodSync(dataDir, 0o711);
  return lockDataDir(dataDir);
}
