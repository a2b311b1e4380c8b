// A whole sensor plane on 127.0.0.1 with real certificates: the real listener, authority and actors over small stores.
// The wall clock is the test's: `travel` moves it, so that days pass between two requests of one socket.
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFleetPicture } from '../../actors/fleet/fleet-picture.ts';
import { createIngest } from '../../actors/fleet/ingest/ingest.ts';
import { createInventory } from '../../actors/fleet/ingest/inventory.ts';
import { sensorActorsOf } from '../../actors/fleet/ingest/sensor-actors.ts';
import { createSequenceLedgers } from '../../actors/fleet/ingest/sequence-ledger.ts';
import { createSensorDirectory } from '../../actors/fleet/sensor.actor.ts';
import { createInspectionFeed } from '../../actors/runtime/inspection-feed.ts';
import type { Logger } from '../../actors/runtime/logger.ts';
import { createCrashLog, createSupervisor } from '../../actors/runtime/supervisor.ts';
import { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import { createEnrollment } from '../../actors/trust/enrollment.ts';
import { openIdentityCache } from '../../actors/trust/identity-cache.ts';
import { createOpenLicenseGate, type LicenseGate } from '../../actors/trust/license-gate.ts';
import { createAuthenticate, createRenewal } from '../../actors/trust/renewal.ts';
import { createRevocation } from '../../actors/trust/revocation.ts';
import { createTokenDesk } from '../../actors/trust/tokens.ts';
import { createMemoryBudget } from '../../gateway/access/rate-budget.ts';
import { createListener } from '../../gateway/listener/listener.ts';
import { createPeerFingerprints } from '../../gateway/listener/peer-fingerprints.ts';
import { loadUws } from '../../gateway/listener/uws-loader.ts';
import { createSensorPlane } from '../../gateway/sensor-plane/sensor-plane.ts';
import { resolveIntervals } from '../../machines/limits.ts';
import { newSerial, openCertificateAuthority } from '../../storage/keys/certificate-authority.ts';
import { checkCsr } from '../../storage/keys/csr.ts';
import { prepareTlsAssets } from '../../storage/keys/tls-assets.ts';
import {
  enrollBody,
  type Identity,
  type KeyPair,
  openStream,
  send,
} from './sensor-plane.client.ts';
import { createStores, type Switches } from './sensor-plane.stores.ts';

export const SILENT: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => SILENT,
};

export type SensorPlaneUnderTest = Awaited<ReturnType<typeof startSensorPlane>>;

/** Starts the plane; `stop` takes everything down again. */
export async function startSensorPlane(
  options: { readonly budget?: number; readonly license?: LicenseGate } = {},
) {
  const resolved = resolveIntervals({
    STREAM_PING_INTERVAL_MS: 400,
    STREAM_IDENTITY_CHECK_MS: 400,
    STREAM_OPEN_TIMEOUT_MS: 400,
    BODY_READ_TIMEOUT_MS: 500,
  });
  if (!resolved.ok) throw new Error(resolved.mistakes.join());
  const { intervals } = resolved;
  const time = { offsetMs: 0 };
  const now = () => Date.now() + time.offsetMs;
  const switches: Switches = { database: true, events: true };
  const stores = createStores(switches);
  const clock = createWheelClock({ tickMs: 10 });
  const errors: unknown[] = [];
  const logger: Logger = {
    ...SILENT,
    error: (fields: unknown) => {
      errors.push(fields);
    },
    child: () => logger,
  };

  const { authority, tls } = await openKeys();
  const directory = createSensorDirectory({
    clock,
    feed: createInspectionFeed(),
    supervisor: createSupervisor(now),
    crashes: createCrashLog(logger),
    now,
    rebuild: async () => null,
    onSnapshot: (id, snapshot) => picture.observe(id, snapshot),
  });
  const picture = createFleetPicture({ now, snapshotOf: () => undefined });
  const sensors = sensorActorsOf(directory, intervals, now);
  const cache = await openIdentityCache({
    registry: stores.registry,
    overlapMs: intervals.PREVIOUS_CERTIFICATE_OVERLAP_MS,
    timers: {
      now,
      setTimeout: (run, ms) => setTimeout(run, ms),
      clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
    },
    monotonicNow: now,
    logger,
  });
  const certificates = {
    checkCsr,
    newSerial,
    rootsPem: authority.rootsPem,
    issueSensorCertificate: authority.issueSensorCertificate,
  };
  const trust = {
    registry: stores.registry,
    certificates,
    cache,
    sensors,
    audit: stores.auditLog,
    intervals,
    now,
    logger,
  };
  const ledgers = createSequenceLedgers(stores.events);
  await ledgers.load();
  const inventory = createInventory({
    store: stores.inventoryStore,
    platform: 'standard',
    logger,
  });
  const ingest = createIngest({ sink: stores.events, ledgers });
  const plane = createSensorPlane({
    ...trust,
    clock,
    peers: createPeerFingerprints(),
    authenticate: createAuthenticate(trust),
    enroll: createEnrollment({
      ...trust,
      license: options.license ?? createOpenLicenseGate(logger),
      platform: 'standard',
      policyPublicKeyPem: 'policy-key',
    }),
    renew: createRenewal(trust),
    facts: stores.factWriter,
    ingest,
    inventory,
    budget: createMemoryBudget(options.budget ?? 1_000),
  });
  const loaded = loadUws({ cacheDir: join(tmpdir(), 'service-uws-test') });
  if (!loaded.ok) throw new Error(loaded.reason);
  const { certFile, keyFile, clientCaFile } = tls;
  const built = createListener({
    uws: loaded.uws,
    tls: { certFile, keyFile, clientCaFile },
    attach: (app) => {
      plane.attach(app);
      app.any('/*', (res) => void res.end('browser'));
    },
  });
  if (!built.ok) throw new Error(built.reason);
  const bound = await built.listener.listen('127.0.0.1', 0);
  if (!bound.ok) throw new Error(bound.reason);
  const { port } = bound;
  const tokens = createTokenDesk({
    registry: stores.registry,
    ttlMs: intervals.ENROLLMENT_TOKEN_TTL_MS,
    now,
  });
  const ca = authority.rootsPem;
  const agents = new Set<Agent>();

  const ask = (
    identity: Pick<Identity, 'cert' | 'key'> | null,
    path: string,
    body?: unknown,
    more: RequestOptions = {},
  ) => send({ port, ca, identity, path, body, more });
  return {
    port,
    ca,
    authority,
    intervals,
    stores,
    switches,
    sensors,
    picture,
    plane,
    ingest,
    cache,
    tokens,
    errors,
    revoke: createRevocation(trust),
    now,
    /** Moves the Console's wall clock. */
    travel: (ms: number) => {
      time.offsetMs += ms;
      for (const id of directory.ids()) {
        directory.tell(id, { type: 'clock.jumped', atMs: now(), byMs: ms });
      }
    },
    ask,
    agent(identity: Pick<Identity, 'cert' | 'key'> | null): Agent {
      const made = new Agent({ keepAlive: true, maxSockets: 1, ca, ...(identity ?? {}) });
      agents.add(made);
      return made;
    },
    async enroll(nodeName: string, keys: KeyPair): Promise<Identity> {
      const { secret } = await tokens.create({ note: '', actor: 'test' });
      const answer = await ask(null, '/sensors/enroll', enrollBody(secret, nodeName, keys));
      if (answer.status !== 201) throw new Error(JSON.stringify(answer));
      return {
        sensorId: String(answer.body['sensor_id']),
        cert: String(answer.body['control_plane_certificate_pem']),
        key: keys.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
      };
    },
    openStream: (identity: Identity, headers: Record<string, string> = {}) =>
      openStream({ port, ca, identity, headers }),
    async stop() {
      plane.streams.shutDown();
      plane.streams.dispose();
      for (const agent of agents) agent.destroy();
      await cache.stop();
      directory.closeAll();
      clock.stop();
      built.listener.close();
    },
  };
}

/** One root for every plane of a test file: a root key takes a second to make. */
let shared: ReturnType<typeof makeSharedKeys> | null = null;
function openKeys() {
  shared ??= makeSharedKeys();
  return shared;
}

/** Removes the shared root; call it when the test file ends. */
export async function removeSharedKeys(): Promise<void> {
  if (shared !== null) rmSync((await shared).folder, { recursive: true, force: true });
  shared = null;
}

async function makeSharedKeys() {
  const folder = mkdtempSync(join(tmpdir(), 'sensor-plane-'));
  const authority = await openAuthority(join(folder, 'ca'));
  const made = await prepareTlsAssets({
    folder: join(folder, 'tls'),
    authority,
    names: ['localhost', '127.0.0.1'],
    nowMs: Date.now(),
  });
  if (!made.ok) throw new Error(made.mistakes.join());
  return { authority, tls: made.assets, folder };
}

/** Opens a certificate authority of its own. */
export async function openAuthority(folder: string) {
  const opened = await openCertificateAuthority({ folder, nowMs: Date.now() });
  if (!opened.ok) throw new Error(opened.reason);
  return opened.authority;
}
