// A Console without a configuration: the one TLS listener with the first run on it and nothing else. No database is opened
// and nothing runs in the background. When the configuration is written, the process ends with the exit code that asks its
// parent to start it again. decision: D42; invariant: I14
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createPasswords } from '../../../actors/access/passwords.ts';
import { createRefusedCredentials } from '../../../actors/access/refused-credentials.ts';
import { openEnvelope } from '../../../actors/license/envelope-signature.ts';
import type { Logger } from '../../../actors/runtime/logger.ts';
import { createWheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { startSetupActor } from '../../../actors/settings/setup.actor.ts';
import {
  SETUP_CODE_ATTEMPTS_PER_MINUTE,
  SETUP_RESTART_DELAY_MS,
} from '../../../machines/limits.ts';
import { createArgon2Hasher } from '../../../storage/keys/argon2-hasher.ts';
import { addressKey, createMemoryBudget } from '../../access/rate-budget.ts';
import { type ConsoleConfig, loadConfig } from '../../config/config.ts';
import { mistakeOfTransport } from '../../config/store-transport.ts';
import { colonHex } from '../../fingerprint-text.ts';
import { handleExchange } from '../../listener/handle-exchange.ts';
import { createPeerFingerprints } from '../../listener/peer-fingerprints.ts';
import { createBridge } from '../../operator-plane/plumbing/bridge.ts';
import type { PageFiles } from '../../page/page-files.ts';
import { withPage } from '../../page/page-handler.ts';
import { SETUP_ROOTS } from '../../page/page-paths.ts';
import { openCertificates } from '../../process/certificates.ts';
import { embeddedAnchor } from '../../process/license-trust.ts';
import { listenAt } from '../../process/listen.ts';
import { processTime } from '../../process/time.ts';
import { createSetupApp } from '../../setup/setup-app.ts';
import { createSetupCodes } from '../../setup/setup-code.ts';
import { configurationText, readDraft } from '../../setup/setup-draft.ts';
import { createSetupService } from '../../setup/setup-service.ts';
import { startTimerOf } from '../../start-timer.ts';
import type { Env } from '../plumbing/context-file.ts';
import { setupFiles } from '../settings/setup-files.ts';
import { createConnectionTests } from './connection-tests.ts';
import { lockDataDir } from './data-dir-lock.ts';

const ALLOW_PLAINTEXT = 'SERVICE_CONSOLE_ALLOW_PLAINTEXT_STORES';

export type RunningSetup = {
  readonly port: number;
  readonly caFingerprint: string;
  /** Resolves when the configuration is written and its last answer is sent. */
  readonly written: Promise<void>;
  stop(): Promise<void>;
};

export type SetupOptions = {
  readonly config: ConsoleConfig;
  readonly env: Env;
  readonly version: string;
  /** The web page; null or absent where none was built. */
  readonly page?: PageFiles | null;
  readonly logger: Logger;
  /** Gets every code once; it is for the terminal and never for a log. */
  readonly tellCode: (code: string) => void;
};

/** Opens the first run. Throws why it cannot. */
export async function openSetup(options: SetupOptions): Promise<RunningSetup> {
  const { config, logger } = options;
  mkdirSync(config.dataDir, { recursive: true, mode: 0o711 });
  chmodSync(config.dataDir, 0o711);
  const closers: (() => Promise<void> | void)[] = [lockDataDir(config.dataDir)];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    return { ...(await open(options, closers)), stop };
  } catch (error) {
    await stop();
    logger.error({ error: String(error) }, 'the setup could not be opened');
    throw error;
  }
}

async function open(
  options: SetupOptions,
  closers: (() => Promise<void> | void)[],
): Promise<Omit<RunningSetup, 'stop'>> {
  const { config, logger } = options;
  const tls = (await openCertificates(config, logger)).tls();
  const { promise: written, resolve } = Promise.withResolvers<void>();
  const app = await buildApp(options, {
    ...{ closers, caPem: tls.serverCaPem },
    onWritten: resolve,
  });
  closers.push(() => app.close());
  const bridge = createBridge({ app, startTimer: startTimerOf(processTime) });
  const handler = withPage(options.page ?? null, SETUP_ROOTS, bridge);
  const exchange = {
    peers: createPeerFingerprints(),
    onFailure: (error: unknown) => logger.error({ error: String(error) }, 'a request failed'),
  };
  const bound = await listenAt(
    { ...config, cacheDir: join(config.dataDir, 'runtime') },
    tls,
    (uws) => {
      uws.any('/*', handleExchange(exchange, handler));
    },
  );
  closers.push(() => bound.close());
  return { port: bound.port, caFingerprint: colonHex(tls.serverCaFingerprintSha256), written };
}

async function buildApp(
  { config, env, version, logger, tellCode }: SetupOptions,
  within: {
    readonly closers: (() => Promise<void> | void)[];
    readonly caPem: string;
    readonly onWritten: () => void;
  },
) {
  const { closers, caPem, onWritten } = within;
  const files = setupFiles(config.dataDir);
  const kept = readDraft(await files.readAnswers());
  const clock = createWheelClock({
    onError: (error) => logger.error({ error: String(error) }, 'a timer failed'),
  });
  const actor = startSetupActor({
    ...{ done: kept.done, clock, logger },
    write: () => files.writeConfiguration(configurationText(service.draft())),
  });
  closers.push(() => {
    actor.stop();
    clock.stop();
  });
  // There is no database yet: wrong codes are kept for the audit log of the start that follows, and logged.
  const refused = createRefusedCredentials({
    audit: {
      append: async (entries) => {
        await files.addRefusals(entries);
        for (const entry of entries) logger.warn(entry, 'setup codes were refused');
      },
    },
    ...{ timers: processTime, now: processTime.now, logger },
  });
  closers.push(() => refused.close());
  const service = createSetupService(
    {
      actor,
      tests: createConnectionTests(),
      passwords: createPasswords({ hasher: createArgon2Hasher() }),
      openLicense: (envelope) => openEnvelope(envelope, embeddedAnchor().publicKey),
      mistakeOfStore(store, url) {
        const isAllowed = /^(true|1|yes|on)$/i.test(env[ALLOW_PLAINTEXT] ?? '');
        return store === 'broker' || isAllowed ? null : mistakeOfTransport(store, url);
      },
      mistakesOf(text) {
        const loaded = loadConfig({ env, isRoot: false, readFile: () => text });
        return loaded.ok ? [] : loaded.mistakes;
      },
      keep: (draft) => files.writeAnswers(JSON.stringify(draft)),
      now: processTime.now,
    },
    kept,
  );
  return createSetupApp({
    ...{ service, version, logger, caPem },
    state: actor.state,
    acceptCode: actor.acceptCode,
    codes: createSetupCodes(tellCode),
    attempts: createMemoryBudget(SETUP_CODE_ATTEMPTS_PER_MINUTE),
    onRefused: (address) => refused.note('setup_code', addressKey(address)),
    // The answer must be on its way before the listener goes.
    onFinished: () => void processTime.setTimeout(onWritten, SETUP_RESTART_DELAY_MS),
  });
}
