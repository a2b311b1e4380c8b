// A whole Console on 127.0.0.1 over the stores of stores.fixture.ts: the parts and the wiring that run in production, the real
// listener, real certificates. Its wall clock and its monotonic clock are the test's, so that days pass between two
// requests of one socket; two Consoles over the same stores are replicas, or one that was started again.
import { randomBytes, X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createProviderClient,
  type ProviderClientDeps,
} from '../../actors/access/sso/provider-client.ts';
import type { Logger } from '../../actors/runtime/logger.ts';
import { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import { hashOfSecret } from '../../actors/trust/tokens.ts';
import { newId } from '../../actors/trust/uuid-v7.ts';
import { SESSION_COOKIE } from '../../gateway/access/session-cookie.ts';
import { access } from '../../gateway/capabilities/access/access.ts';
import { fleet as fleetOf } from '../../gateway/capabilities/fleet/fleet.ts';
import { license } from '../../gateway/capabilities/license/license.ts';
import { settings } from '../../gateway/capabilities/settings/settings.ts';
import { system } from '../../gateway/capabilities/system/system.ts';
import { telemetry } from '../../gateway/capabilities/telemetry/telemetry.ts';
import { trust } from '../../gateway/capabilities/trust/trust.ts';
import { CAPABILITIES } from '../../gateway/capabilities.ts';
import { runConsole } from '../../gateway/console.ts';
import type { ConsolePorts } from '../../gateway/console-ports.ts';
import { configFrom, memoryPorts } from '../../gateway/memory-ports.fixture.ts';
import { keysOf } from '../../gateway/process/keys.ts';
import { listenAt } from '../../gateway/process/listen.ts';
import { EVALUATION_SETTINGS } from '../../machines/console/settings/settings.rules.ts';
import {
  type IntervalName,
  SENSOR_KEY_OLD_BITS,
  SESSION_RANDOM_BYTES,
} from '../../machines/limits.ts';
import type { Role } from '../../machines/trust/roles.rules.ts';
import { formatSecret, SECRET_RANDOM_BYTES } from '../../machines/trust/secret.rules.ts';
import { newSerial, openCertificateAuthority } from '../../storage/keys/certificate-authority.ts';
import { checkCsr } from '../../storage/keys/csr.ts';
import { prepareTlsAssets, type TlsAssets } from '../../storage/keys/tls-assets.ts';
import type { PasswordHasher } from '../../storage/ports/access/password-hasher.ts';
import type { SharedCounter } from '../../storage/ports/access/shared-counter.ts';
import type { SensorRegistry } from '../../storage/ports/fleet/sensor-registry.ts';
import type { EventBatch } from '../../storage/ports/telemetry/event-store.ts';
import { createIssuer } from './license-issuer.ts';
import {
  enrollBody,
  type Identity,
  type KeyPair,
  makeKeys,
  nth,
  openStream,
  send,
} from './peer.ts';
import { openStores, type Stores } from './stores.fixture.ts';
import { createTestTime } from './test-time.ts';

const UWS_CACHE = join(tmpdir(), `service-uws-test-${process.getuid?.()}`);
/** This machine, as an admin allows it. */
const HERE = ['127.0.0.0/8', '::1'];
/** Short enough to wait for, long enough for an honest peer on a busy machine. */
const SHORT: Partial<Record<IntervalName, number>> = {
  STREAM_PING_INTERVAL_MS: 1_000,
  STREAM_IDENTITY_CHECK_MS: 1_000,
  BODY_READ_TIMEOUT_MS: 2_000,
};

export type ConsoleUnderTest = Awaited<ReturnType<typeof startConsole>>;
export type ConsoleOptions = {
  /** Requests an address without a certificate has in a minute. */
  readonly budget?: number;
  /** Requests that a key or a session has in a minute; the usual ones when absent. */
  readonly credentialBudget?: number;
  /** Where it shares its request budgets; by itself when absent. */
  readonly counter?: SharedCounter;
  readonly stores?: Stores;
  /** Hashes passwords; one that costs nothing when absent. */
  readonly hasher?: PasswordHasher;
  readonly intervals?: Partial<Record<IntervalName, number>>;
  /** False: second factors are asked as by default; else as in a quick start. */
  readonly isEvaluation?: boolean;
  /** Puts something between the Console and its registry. */
  readonly registry?: (real: SensorRegistry) => SensorRegistry;
  /** Whose licenses are trusted; somebody new when absent. */
  readonly issuer?: ReturnType<typeof createIssuer>;
  /** How identity providers are reached; with it this machine is on the allow-list, where they live. */
  readonly providerWay?: Pick<ProviderClientDeps, 'agent' | 'timeoutMs'>;
  /** Replaces the file of the client CA. */
  readonly clientCaFile?: string;
};

/** Starts a Console; `stop` takes everything down again. */
export async function startConsole(options: ConsoleOptions = {}) {
  const { authority, tls, folder } = await openKeys();
  const time = createTestTime();
  const errors: unknown[] = [];
  const stores = options.stores ?? (await openStores());
  const issuer = options.issuer ?? createIssuer();
  const console = await runOn(stores, options, {
    ...{ time, clock: createWheelClock({ tickMs: 10 }), logger: loggerInto(errors) },
    config: configFrom({ intervals: { ...SHORT, ...options.intervals } }, folder),
    keys: keysOf({ dataDir: folder }),
    openLicenseTrust: async () => ({ anchors: [issuer.anchor], evaluation: null }),
    openCertificates: async () => ({
      // Keys of older Sensors are taken, as in the lifetime after an update: they are made sooner.
      sensors: {
        ...{ ...authority, newSerial },
        checkCsr: (request) => checkCsr({ ...request, minBits: SENSOR_KEY_OLD_BITS }),
      },
      tls: () => ({ ...tls, clientCaFile: options.clientCaFile ?? tls.clientCaFile }),
      isRenewalDue: () => false,
      renew: async () => tls,
    }),
    listen: (on, attach) =>
      listenAt({ cacheDir: UWS_CACHE, bind: '127.0.0.1', port: 0 }, on, attach),
  });
  const { context } = console;
  const { relational } = stores;
  const { intervals } = context;
  const fleet = context.use(fleetOf);
  const { tokens, revokeSensor } = context.use(trust);
  const { tap, streams } = context.use(telemetry);
  const batches: EventBatch[] = [];
  tap.subscribe((batch) => batches.push(batch));
  const outside = createOutside(console.port, authority.rootsPem);
  const tellJump = (byMs: number): void => {
    for (const id of fleet.directory.ids()) {
      fleet.directory.tell(id, { type: 'clock.jumped', atMs: time.now(), byMs });
    }
  };
  return {
    ...outside,
    ...{ authority, intervals, stores, fleet, errors, batches, time, issuer, streams, tokens },
    loops: context.loops,
    app: console.app,
    license: context.use(license),
    settings: context.use(settings),
    metrics: context.use(system).metrics,
    limits: context.use(access).limits,
    revoke: (sensorId: string) => revokeSensor({ sensorId, reason: 'stolen', actor: 'test' }),
    closeAccess: () => context.use(access).tellRefused(),
    batchesOf: (sensorId: string) => batches.filter((one) => one.sensorId === sensorId),
    audited: () => relational.audit.recent(100_000),
    /** Moves the wall clock, and tells the actors as the watch over it does. */
    travel(byMs: number): void {
      time.travel(byMs);
      tellJump(byMs);
    },
    /** Holds the wall clock at one instant, and tells the actors. */
    holdAt(atMs: number): void {
      const byMs = atMs - time.now();
      time.hold(atMs);
      tellJump(byMs);
    },
    newToken: async () => (await tokens.create({ note: '', actor: 'test' })).secret,
    /** Makes an API key and tells its secret. */
    async newKey(
      scopes: readonly string[],
      expiresAtMs: number | null = null,
      userId?: string,
    ): Promise<ApiKey> {
      const secret = formatSecret('apiKey', randomBytes(SECRET_RANDOM_BYTES));
      const [keyId, hash] = [newId(), hashOfSecret(secret)];
      const name = scopes.join(' ');
      await relational.apiKeys.create({ keyId, hash, name, scopes, nowMs: 0, expiresAtMs, userId });
      return { keyId, secret };
    },
    /** Gives a new person of this role a session; the header that carries it. */
    async newSession(role: Role): Promise<{ readonly cookie: string }> {
      const [userId, secret] = [newId(), randomBytes(SESSION_RANDOM_BYTES).toString('base64url')];
      const doing = { actor: 'test', nowMs: time.now() };
      const email = `${userId}@example.org`;
      const { users, sessions } = relational;
      await users.create({ ...doing, userId, email, displayName: role, role, passwordHash: null });
      await sessions.create({
        ...{ hash: hashOfSecret(secret), sessionId: newId(), userId, stage: 'full' },
        ...{ method: 'password', address: '127.0.0.1', userAgent: 'test' },
        authenticatedAtMs: time.now(),
        ...{ createdAtMs: time.now(), expiresAtMs: time.now() + intervals.SESSION_ABSOLUTE_MS },
      });
      return { cookie: `${SESSION_COOKIE}=${secret}` };
    },
    /** Enrolls a node, with a key of its own when none is given: a key serves one sensor only. */
    async enroll(nodeName: string, own?: KeyPair): Promise<Identity> {
      const keys = own ?? nth(await makeKeys(1), 0);
      const { secret } = await tokens.create({ note: '', actor: 'test' });
      const answer = await outside.ask(null, '/sensors/enroll', enrollBody(secret, nodeName, keys));
      if (answer.status !== 201) throw new Error(JSON.stringify(answer));
      return {
        sensorId: String(answer.body['sensor_id']),
        cert: String(answer.body['control_plane_certificate_pem']),
        key: keys.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
      };
    },
    async stop(): Promise<void> {
      outside.hangUp();
      await console.stop();
      if (options.stores === undefined) await stores.close();
    },
  };
}

export type ApiKey = { readonly keyId: string; readonly secret: string };

/** What a peer outside can do. */
function createOutside(port: number, ca: string) {
  const agents = new Set<Agent>();
  return {
    port,
    ca,
    ask: (
      identity: Pick<Identity, 'cert' | 'key'> | null,
      path: string,
      body?: unknown,
      more: RequestOptions = {},
    ) => send({ port, ca, identity, path, body, more }),
    /** One kept connection. */
    agent(identity: Pick<Identity, 'cert' | 'key'> | null): Agent {
      const made = new Agent({ keepAlive: true, maxSockets: 1, ca, ...(identity ?? {}) });
      agents.add(made);
      return made;
    },
    openStream: (identity: Identity, headers: Record<string, string> = {}) =>
      openStream({ port, ca, identity, headers }),
    hangUp(): void {
      for (const agent of agents) agent.destroy();
    },
  };
}

/** The Console of these options on the stores; one that does not start says why. */
async function runOn(stores: Stores, options: ConsoleOptions, ports: Partial<ConsolePorts>) {
  const { relational, events: analytics } = stores;
  const sensors = options.registry?.(relational.sensors) ?? relational.sensors;
  const { monotonicNow } = ports.time ?? createTestTime();
  const { hasher, counter, budget: address = 1_000_000, credentialBudget, providerWay } = options;
  const own =
    credentialBudget === undefined ? {} : { large: credentialBudget, small: credentialBudget };
  const settingDefaults = {
    ...(options.isEvaluation === false ? {} : EVALUATION_SETTINGS),
    ...(providerWay === undefined ? {} : { webhook_allow_list: HERE }),
  };
  const started = await runConsole(
    memoryPorts(
      { relational: { ...relational, sensors }, analytics },
      {
        ...ports,
        ...(hasher === undefined ? {} : { hasher }),
        settingDefaults,
        openCounter: () => counter ?? null,
        requestBudgets: { address, ...own },
        openProviders: (allowList) =>
          createProviderClient({ monotonicNow, allowList, ...providerWay }),
      },
    ),
    CAPABILITIES,
  );
  if (!started.ok) throw new Error(`${started.step}: ${started.reason}`);
  return started.console;
}

function loggerInto(errors: unknown[]): Logger {
  const logger: Logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (fields: unknown) => void errors.push(fields),
    child: () => logger,
  };
  return logger;
}

/** One root for every Console of a test file: a root key takes a second to make. */
let shared: ReturnType<typeof makeSharedKeys> | null = null;
function openKeys() {
  shared ??= makeSharedKeys();
  return shared;
}

/** The files of the root that was made first, by folder: the next test file of this worker begins with them. */
const kept = new Map<string, ReadonlyMap<string, Buffer>>();

function keepFiles(folder: string, name: string): void {
  const from = join(folder, name);
  kept.set(name, new Map(readdirSync(from).map((file) => [file, readFileSync(join(from, file))])));
}

function bringBack(folder: string): void {
  for (const [name, files] of kept) {
    mkdirSync(join(folder, name), { mode: 0o700 });
    for (const [file, bytes] of files) writeFileSync(join(folder, name, file), bytes);
  }
}

/** Removes the shared root; call it when the test file ends. */
export async function removeSharedKeys(): Promise<void> {
  if (shared !== null) rmSync((await shared).folder, { recursive: true, force: true });
  shared = null;
}

async function makeSharedKeys() {
  const folder = mkdtempSync(join(tmpdir(), 'attacks-'));
  bringBack(folder);
  const authority = await openAuthority(join(folder, 'ca'));
  const names = ['localhost', '127.0.0.1'];
  const nowMs = Date.now();
  const made = await prepareTlsAssets({ folder: join(folder, 'tls'), authority, names, nowMs });
  if (!made.ok) throw new Error(made.mistakes.join());
  const tls: TlsAssets = made.assets;
  for (const name of ['ca', 'tls']) keepFiles(folder, name);
  return { authority, tls, folder };
}

/** Opens a certificate authority of its own. */
export async function openAuthority(folder: string) {
  const opened = await openCertificateAuthority({ folder, nowMs: Date.now() });
  if (!opened.ok) throw new Error(opened.reason);
  return opened.authority;
}

/** When a certificate ends, as the Console stores it. */
export const endOf = (identity: Pick<Identity, 'cert'>): number =>
  Date.parse(new X509Certificate(identity.cert).validTo);
