// A whole sensor plane on 127.0.0.1 with real certificates: the real listener, authority and actors over small stores.
// The wall clock is the test's: `travel` moves it, so that days pass between two requests of one socket.
import { generateKeyPair, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import forge from 'node-forge';
import { WebSocket } from 'ws';
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
import { createStores, type Switches } from './sensor-plane.stores.ts';

const makeKeyPair = promisify(generateKeyPair);
export type KeyPair = { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
export type Identity = { readonly sensorId: string; readonly cert: string; readonly key: string };
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Record<string, unknown>;
  readonly isResumed: boolean;
};

/** Makes RSA keys, several at a time. */
export function makeKeys(count: number, bits = 2_048): Promise<readonly KeyPair[]> {
  const one = () => makeKeyPair('rsa', { modulusLength: bits, publicExponent: 65_537 });
  return Promise.all(Array.from({ length: count }, one));
}

/** A certificate request of node-forge; `attributes` and `subject` may be as odd as a test needs. */
export function makeCsr(
  keys: KeyPair,
  nodeName: string,
  odd: {
    readonly subject?: readonly { readonly name: string; readonly value: string }[];
    readonly extensions?: readonly Record<string, unknown>[];
    readonly signWith?: KeyPair;
  } = {},
): string {
  const pem = (pair: KeyPair) =>
    pair.privateKey.export({ format: 'pem', type: 'pkcs1' }).toString();
  const csr = forge.pki.createCertificationRequest();
  csr.publicKey = forge.pki.publicKeyFromPem(
    keys.publicKey.export({ format: 'pem', type: 'spki' }).toString(),
  );
  csr.setSubject([
    ...(odd.subject ?? [
      { name: 'commonName', value: nodeName },
      { name: 'organizationName', value: 'Service Sensor' },
    ]),
  ]);
  if (odd.extensions !== undefined) {
    csr.setAttributes([{ name: 'extensionRequest', extensions: [...odd.extensions] }]);
  }
  csr.sign(forge.pki.privateKeyFromPem(pem(odd.signWith ?? keys)), forge.md.sha256.create());
  return forge.pki.certificationRequestToPem(csr);
}

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

async function makeSharedKeys() {
  const folder = mkdtempSync(join(tmpdir(), 'sensor-plane-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const authority = await openAuthority(join(folder, 'ca'));
  const made = await prepareTlsAssets({
    folder: join(folder, 'tls'),
    authority,
    names: ['localhost', '127.0.0.1'],
    nowMs: Date.now(),
  });
  if (!made.ok) throw new Error(made.mistakes.join());
  return { authority, tls: made.assets };
}

/** Opens a certificate authority of its own. */
export async function openAuthority(folder: string) {
  const opened = await openCertificateAuthority({ folder, nowMs: Date.now() });
  if (!opened.ok) throw new Error(opened.reason);
  return opened.authority;
}

export function enrollBody(token: string, nodeName: string, keys: KeyPair, csrPem?: string) {
  return {
    token,
    csr_pem: csrPem ?? makeCsr(keys, nodeName),
    node_name: nodeName,
    flavor: 'standard',
    system: { os_name: 'Linux', os_version: '12', architecture: 'x64', kernel_version: '6' },
    boot_id: 'boot',
    sensor_version: '0.1.0',
  };
}

export const STREAM_ID = 'a'.repeat(32);
export const eventOf = (n: number) => ({
  event_id: n.toString(16).padStart(32, '0'),
  schema_version: 1,
  observed_at: '2026-01-01T00:00:00.000Z',
  event_kind: 'process_exec',
  severity: 'info',
  message: `event ${n}`,
});
export const eventsBody = (sequence: number, ids: readonly number[]) => ({
  stream_id: STREAM_ID,
  sequence,
  events: ids.map(eventOf),
});
const COUNTERS = [
  'read',
  'normalized',
  'dropped',
  'aggregated',
  'spooled',
  'spool_depth',
  'discarded',
  'sent_stream',
  'sent_heartbeat',
  'engine_lost',
];
export const heartbeatBody = (sequence: number, ids: readonly number[]) => ({
  ...eventsBody(sequence, ids),
  sent_at: '2026-01-01T00:00:00.000Z',
  boot_id: 'boot',
  sensor: { version: '0.1.0', flavor: 'standard', capabilities: [] },
  engine: {
    kind: 'procfs',
    version: '1.7.0',
    state: 'running',
    restarts: 0,
    disabled_hooks: [],
    loaded_policies: [],
  },
  trust: {
    state: 'trusted',
    certificate_expires_at: '2027-01-01T00:00:00.000Z',
    renewal_status: 'ok',
  },
  connections: [],
  listening_services: [],
  flows: [],
  resources: { cpu_percent: 1, memory_bytes: 1 },
  system: { os_name: 'Linux', os_version: '12', architecture: 'x64', kernel_version: '6' },
  pipeline: Object.fromEntries(COUNTERS.map((name) => [name, 0])),
});

function send(input: {
  readonly port: number;
  readonly ca: string;
  readonly identity: Pick<Identity, 'cert' | 'key'> | null;
  readonly path: string;
  readonly body: unknown;
  readonly more: RequestOptions;
}): Promise<Answer> {
  const { body, identity, more } = input;
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body ?? {}));
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(
      {
        host: '127.0.0.1',
        port: input.port,
        path: input.path,
        method: 'POST',
        ca: input.ca,
        agent: false,
        ...(identity === null ? {} : { cert: identity.cert, key: identity.key }),
        ...more,
        headers: { 'content-type': 'application/json', ...more.headers },
      },
      (res) => {
        const chunks: Buffer[] = [];
        const socket = res.socket as { isSessionReused?: () => boolean };
        const isResumed = socket.isSessionReused?.() ?? false;
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('error', reject);
        res.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = String(res.headers['content-type']).includes('json');
          resolve({
            status: res.statusCode ?? 0,
            headers: res.headers,
            body: isJson ? (JSON.parse(text) as Record<string, unknown>) : { text },
            isResumed,
          });
        });
      },
    );
    sent.on('error', reject);
    if (more.method === 'GET') sent.end();
    else sent.end(bytes);
  });
}

export type TestStream = Awaited<ReturnType<typeof openStream>>;

async function openStream(input: {
  readonly port: number;
  readonly ca: string;
  readonly identity: Identity;
  readonly headers: Record<string, string>;
}) {
  const socket = new WebSocket(
    `wss://127.0.0.1:${input.port}/sensors/stream`,
    'service.stream.v1',
    {
      ca: input.ca,
      cert: input.identity.cert,
      key: input.identity.key,
      headers: input.headers,
    },
  );
  const frames: Record<string, unknown>[] = [];
  const waiting: (() => void)[] = [];
  let isAnswering = true;
  let instanceId = '';
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  socket.on('message', (data) => {
    const frame = JSON.parse(data.toString()) as Record<string, unknown>;
    if (frame['type'] === 'ping') {
      if (isAnswering) socket.send(JSON.stringify({ type: 'pong', instance_id: instanceId }));
      return;
    }
    frames.push(frame);
    for (const wake of waiting.splice(0)) wake();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('error', reject);
    socket.once('unexpected-response', (_, res) => reject(new Error(`status ${res.statusCode}`)));
  });
  socket.on('error', () => undefined);
  return {
    socket,
    frames,
    closed,
    send: (frame: unknown) => socket.send(JSON.stringify(frame)),
    stopAnswering: () => {
      isAnswering = false;
    },
    hello(instance: string) {
      instanceId = instance;
      const rest = { boot_id: 'boot', stream_id: STREAM_ID, sensor_version: '0', capabilities: [] };
      socket.send(JSON.stringify({ type: 'hello', instance_id: instance, ...rest }));
    },
    /** The next frame of a type; frames before it are dropped. */
    async next(type: string): Promise<Record<string, unknown>> {
      for (;;) {
        const at = frames.findIndex((one) => one['type'] === type);
        if (at !== -1) return frames.splice(0, at + 1).at(-1) ?? {};
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}
