// The Console's composition root: the only place, beside the command line, that builds concrete clients. The ten steps
// of a start run in their order; whatever they opened is closed in reverse when a later one fails, or at the end.
// decision: D4, D7, D17; invariant: I14
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { provideFirstAdmin } from '../actors/access/first-admin.ts';
import { createPasswords } from '../actors/access/passwords.ts';
import { startAuditSealer } from '../actors/audit/audit-sealer.actor.ts';
import { createWheelClock } from '../actors/runtime/wheel-clock.ts';
import { openSettingsDesk } from '../actors/settings/settings-desk.ts';
import { runStartup, type StartupResult } from '../actors/startup/startup.actor.ts';
import { createArgon2Hasher } from '../storage/keys/argon2-hasher.ts';
import { openAuditCheckpointKey } from '../storage/keys/audit-checkpoint-key.ts';
import { type CertificateAuthority, newSerial } from '../storage/keys/certificate-authority.ts';
import { checkCsr } from '../storage/keys/csr.ts';
import { openPolicySigningKey } from '../storage/keys/policy-signing-key.ts';
import { openSealer } from '../storage/keys/sealer.ts';
import { openSecretFile } from '../storage/keys/secret-file.ts';
import { createRedisCounter } from '../storage/limits/redis-counter.ts';
import type { SharedCounter } from '../storage/ports/access/shared-counter.ts';
import { assembleAccess } from './assembly/access.ts';
import { colonHex } from './assembly/addresses.ts';
import { createAdminKeys } from './assembly/admin-keys.ts';
import { assembleFleet } from './assembly/fleet.ts';
import { assembleOperatorSide } from './assembly/operator.ts';
import { runProvisioning } from './assembly/provisioning.ts';
import { assembleSensorSide } from './assembly/sensor.ts';
import { applySettings } from './assembly/settings.ts';
import {
  type Built,
  type Console,
  type ConsoleOptions,
  keysFolder,
  need,
  type StepContext,
} from './assembly/start-context.ts';
import { createStoreView } from './assembly/store-view.ts';
import { processTime } from './assembly/time.ts';
import { prepareTls, startRenewal } from './assembly/tls-step.ts';
import { openConsoleLicense } from './cli/license/open-license.ts';
import { setupFiles } from './cli/settings/setup-files.ts';
import { lockDataDir } from './cli/start/data-dir-lock.ts';
import {
  migrateAnalytics,
  migrateRelational,
  openAnalyticsStore,
  openRelationalStore,
} from './cli/start/open-stores.ts';
import { createListener } from './listener/listener.ts';
import { createPeerFingerprints } from './listener/peer-fingerprints.ts';
import { loadUws } from './listener/uws-loader.ts';
import { tapSink } from './live/event-tap.ts';

/** Starts a Console; a step that fails is named with its reason, and nothing keeps running. */
export async function startConsole(
  options: ConsoleOptions,
): Promise<
  { readonly ok: true; readonly console: Console } | Extract<StartupResult, { ok: false }>
> {
  const { logger } = options;
  const clock = createWheelClock({
    onError: (error) => logger.error({ error: String(error) }, 'a timer failed'),
  });
  const built: Built = {};
  const closers: (() => Promise<void> | void)[] = [];
  let isDraining = false;
  const shut = async (): Promise<void> => {
    isDraining = true;
    for (const close of closers.splice(0).reverse()) {
      await Promise.resolve(close()).catch((error: unknown) => {
        logger.warn({ error: String(error) }, 'something did not close in order');
      });
    }
    clock.stop();
  };
  const context: StepContext = {
    ...options,
    built,
    closers,
    clock,
    isDraining: () => isDraining,
    stores: createStoreView(processTime.now),
    sealers: createStoreView(processTime.now, 'audit-sealer'),
  };
  const result = await runStartup({ clock, logger, steps: stepsOf(context) });
  if (!result.ok) {
    await shut();
    return result;
  }
  startRenewal(context);
  return { ok: true, console: consoleOf(context, shut) };
}

function stepsOf(context: StepContext): Parameters<typeof runStartup>[0]['steps'] {
  return {
    configuration: () => prepareDataDir(context),
    policy_signing_key: () => openSigningKey(context),
    relational_database: () => openRelational(context),
    license_trust_anchor: () => openLicense(context),
    analytics_and_sink: () => openAnalytics(context),
    routers: () => buildRouters(context),
    sensor_tls_assets: () => prepareTls(context),
    provisioning: () => provisionWhatIsMissing(context),
    background_tasks: () => startBackground(context),
    listener: () => bind(context),
  };
}

// The database's own user must be able to pass through; what is secret lies in folders of mode 700 below.
async function prepareDataDir({ config, closers }: StepContext) {
  mkdirSync(config.dataDir, { recursive: true, mode: 0o711 });
  chmodSync(config.dataDir, 0o711);
  closers.push(lockDataDir(config.dataDir));
  return 'done' as const;
}

async function openSigningKey({ config, built }: StepContext) {
  const opened = await openPolicySigningKey({ folder: keysFolder(config) });
  if (!opened.ok) throw new Error(opened.reason);
  built.signing = opened.key;
  return 'done' as const;
}

async function openRelational(context: StepContext) {
  const relational = await openRelationalStore(storesOf(context));
  await migrateRelational(relational);
  context.built.relational = relational;
  const { config, clock, logger, closers } = context;
  const settings = await openSettingsDesk({
    ...{ store: relational.settings, base: config.intervals, clock, logger },
    now: processTime.now,
  });
  closers.push(() => settings.close());
  context.built.settings = settings;
  return 'done' as const;
}

async function openLicense(context: StepContext) {
  const { config, built, closers, clock, logger, isQuickStart = false } = context;
  const desk = await openConsoleLicense({
    store: need(built, 'relational').relational.license,
    keysFolder: keysFolder(config),
    anchorPath: config.licenseTrustAnchor,
    isQuickStart,
    graceDays: need(built, 'settings').settings.get().licenseGraceDays,
    clock,
    logger,
  });
  closers.push(() => desk.close());
  built.license = desk;
  return 'done' as const;
}

async function openAnalytics(context: StepContext) {
  const { relational } = need(context.built, 'relational');
  const { settings } = need(context.built, 'settings');
  const analytics = await openAnalyticsStore(storesOf(context));
  await migrateAnalytics(relational, analytics, settings.get().analyticsRetentionDays);
  context.built.analytics = analytics;
  return 'done' as const;
}

function storesOf({ config, clock, logger, closers, stores }: StepContext) {
  return {
    config,
    clock,
    logger,
    onClose: (close: () => Promise<void>) => void closers.push(close),
    onStore: stores.add,
  };
}

async function buildRouters(context: StepContext) {
  const { built, closers, clock, logger, version } = context;
  const { relational } = need(built, 'relational');
  const { analytics } = need(built, 'analytics');
  const { signing } = need(built, 'signing');
  const { license } = need(built, 'license');
  const { settings } = need(built, 'settings');
  // What the routes and actors read as an interval is what the settings say now.
  const { intervals } = settings;
  const config = { ...context.config, intervals };
  const fleet = await assembleFleet({
    registry: relational.sensors,
    events: analytics.events,
    clock,
    time: processTime,
    intervals,
    logger,
  });
  closers.push(() => fleet.close());
  closers.push(
    applySettings({
      ...{ settings, sensors: fleet.directory, events: analytics.events, logger },
      time: processTime,
    }),
  );
  built.fleet = fleet;
  const access = assembleAccess({
    ...{ config, settings, time: processTime, logger, stores: relational },
    clock,
    sealer: await openSealer({ folder: keysFolder(config), name: 'operator-secrets.key' }),
    hasher: createArgon2Hasher(),
    counter: sharedCounterOf(context),
  });
  const peers = createPeerFingerprints();
  const tap = tapSink(analytics.sink);
  const sensorSide = await assembleSensorSide({
    config,
    time: processTime,
    clock,
    logger,
    fleet,
    registry: relational.sensors,
    facts: relational.facts,
    audit: relational.audit,
    inventory: relational.inventory,
    events: analytics.events,
    sink: tap.sink,
    telemetry: analytics.telemetry,
    baselines: analytics.baselines,
    certificates: certificatesOf(built),
    policyPublicKeyPem: signing.publicKeyPem,
    license: license.gate,
    addressBudget: access.addressBudget,
    peers,
  });
  closers.push(() => sensorSide.telemetry.close());
  built.sensorSide = sensorSide;
  const operatorSide = await assembleOperatorSide({
    config,
    version,
    time: processTime,
    logger,
    fleet,
    registry: relational.sensors,
    events: analytics.events,
    telemetry: {
      ...{ ...analytics.telemetry, ...analytics.baselines },
      inventory: relational.inventory,
    },
    tap,
    audit: relational.audit,
    auditChain: relational.auditChain,
    access,
    tokens: sensorSide.tokens,
    revokeSensor: sensorSide.revokeSensor,
    license,
    probes: [
      { name: 'postgresql', ping: () => relational.health.ping() },
      { name: 'clickhouse', ping: () => analytics.events.ping() },
    ],
    stores: context.stores,
    sealers: context.sealers,
    cursorKey: await openSecretFile({
      folder: keysFolder(config),
      name: 'page-links.key',
      bytes: 32,
    }),
    caPem: () => need(built, 'tls').tls.serverCaPem,
    caFingerprint: () => colonHex(need(built, 'tls').tls.serverCaFingerprintSha256),
    notReadyBecause: () => (context.isDraining() ? 'the Console is stopping' : null),
    exchange: {
      peers,
      onFailure: (error, request) =>
        logger.error(
          { path: request.path, requestId: request.requestId, error: String(error) },
          'an operator request failed',
        ),
    },
  });
  built.operatorSide = operatorSide;
  // A later step that fails must not leave its timers behind; the listener closes it earlier.
  closers.push(() => operatorSide.close());
  return 'done' as const;
}

// Never a reason not to start: without an answer this Console counts by itself. decision: D41
function sharedCounterOf({ config, logger }: StepContext): SharedCounter | null {
  const { redisUrl: url } = config;
  return url === null ? null : createRedisCounter({ url, timers: processTime, logger });
}

async function provisionWhatIsMissing({ config, built, logger }: StepContext) {
  const { relational } = need(built, 'relational');
  const { license } = need(built, 'license');
  const { settings } = need(built, 'settings');
  return runProvisioning({
    file: config.provisioning,
    answers: setupFiles(config.dataDir),
    provision: {
      ...{ users: relational.users, license, settings, logger, now: processTime.now },
      passwords: createPasswords({ hasher: createArgon2Hasher() }),
    },
    logger,
  });
}

async function startBackground({ config, built, closers, clock, logger, sealers }: StepContext) {
  const opened = await openAuditCheckpointKey({ folder: keysFolder(config) });
  if (!opened.ok) throw new Error(opened.reason);
  const sealer = startAuditSealer({
    chain: need(built, 'relational').relational.auditChain,
    ...{ signer: opened.key, clock, logger, now: processTime.now },
  });
  sealers.add('audit', sealer);
  closers.push(sealer.stop);
  return 'done' as const;
}

async function bind({ config, built, closers }: StepContext) {
  const { tls } = need(built, 'tls');
  const { sensorSide } = need(built, 'sensorSide');
  const { operatorSide } = need(built, 'operatorSide');
  const loaded = loadUws({ cacheDir: join(config.dataDir, 'runtime') });
  if (!loaded.ok) throw new Error(loaded.reason);
  const created = createListener({
    uws: loaded.uws,
    tls,
    attach(app) {
      sensorSide.plane.attach(app);
      operatorSide.attach(app);
    },
  });
  if (!created.ok) throw new Error(created.reason);
  const bound = await created.listener.listen(config.bind, config.port);
  if (!bound.ok) throw new Error(bound.reason);
  closers.push(async () => {
    created.listener.stopAccepting();
    sensorSide.plane.streams.shutDown();
    await operatorSide.close();
    created.listener.close();
    sensorSide.plane.streams.dispose();
  });
  built.listener = created.listener;
  built.port = bound.port;
  return 'done' as const;
}

function consoleOf({ built, config }: StepContext, shut: () => Promise<void>): Console {
  const { relational } = need(built, 'relational');
  const { sensorSide } = need(built, 'sensorSide');
  const { tls } = need(built, 'tls');
  return {
    port: built.port ?? config.port,
    ...createAdminKeys(relational.apiKeys, processTime.now),
    caPem: tls.serverCaPem,
    caFingerprint: colonHex(tls.serverCaFingerprintSha256),
    provideFirstAdmin: () =>
      provideFirstAdmin({
        ...{ users: relational.users, hasher: createArgon2Hasher(), now: processTime.now },
      }),
    createToken: async (note) =>
      (await sensorSide.tokens.create({ note, actor: 'quick-start' })).secret,
    isKnownSensor: async (sensorId) => (await relational.sensors.getSensor(sensorId)) !== null,
    stop: shut,
  };
}

function certificatesOf(built: Built) {
  const authority = () => need(built, 'authority').authority;
  return {
    checkCsr,
    newSerial,
    issueSensorCertificate: (
      request: Parameters<CertificateAuthority['issueSensorCertificate']>[0],
    ) => authority().issueSensorCertificate(request),
    get rootsPem() {
      return need(built, 'tls').tls.serverCaPem;
    },
  };
}
