// An operator plane over small in-memory ports, for examples: real actors, real fleet picture, real admission.
import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { createFleetPicture } from '../../actors/fleet/fleet-picture.ts';
import { createSensorDirectory, sensorInputOf } from '../../actors/fleet/sensor.actor.ts';
import { openLicenseDesk } from '../../actors/license/license-desk.ts';
import { createInspectionFeed } from '../../actors/runtime/inspection-feed.ts';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { createCrashLog, createSupervisor } from '../../actors/runtime/supervisor.ts';
import { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import { sensorMachine } from '../../machines/console/sensor.machine.ts';
import { refuse } from '../../machines/errors.ts';
import { DEFAULT_INTERVALS } from '../../machines/limits.ts';
import { formatSecret } from '../../machines/trust/secret.rules.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import type { EventQuery, TransitionRow } from '../../storage/ports/event-store.ts';
import type { LicenseRow, LicenseStore } from '../../storage/ports/license-store.ts';
import type { ApiKeyRow, AuditEntry } from '../../storage/ports/relational.ts';
import type { SensorQuery, SensorRow, TokenRow } from '../../storage/ports/sensor-registry.ts';
import { createAdmitter } from '../access/api-keys.ts';
import { createMemoryBudget } from '../access/rate-budget.ts';
import { createOperatorPlane } from './app.ts';
import { createCursorSigner } from './cursor.ts';
import type { OperatorPlaneDeps } from './deps.ts';
import { createMetrics } from './metrics.ts';

/** Signs the licenses that the fixture trusts. */
export const LICENSE_KEY = Buffer.alloc(32, 9);
export const NOW_MS = Date.parse('2026-03-01T12:00:00.000Z');
export const sensorIdOf = (index: number) =>
  `00000000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`;

export type Fixture = Awaited<ReturnType<typeof createFixture>>;

/** Builds everything; `more` replaces single dependencies. */
export async function createFixture(more: Partial<OperatorPlaneDeps> = {}, keyLimit = 1_000) {
  const state = {
    nowMs: NOW_MS,
    keys: new Map<string, ApiKeyRow>(),
    sensors: new Map<string, SensorRow>(),
    tokens: new Map<string, TokenRow>(),
    events: [] as StoredEvent[],
    transitions: [] as TransitionRow[],
    audit: [] as AuditEntry[],
    searches: 0,
  };
  const now = () => state.nowMs;
  const clock = createWheelClock();
  const feed = createInspectionFeed();
  const crashes = createCrashLog(silentLogger);
  const directory = createSensorDirectory({
    clock,
    feed,
    crashes,
    supervisor: createSupervisor(now),
    now,
    rebuild: async () => null,
    onSnapshot: (id, snapshot) => fleet.observe(id, snapshot),
  });
  const fleet = createFleetPicture({
    now,
    snapshotOf: (id) => {
      const view = directory.ask(id);
      return view === 'absent' ? undefined : view.snapshot;
    },
  });
  const apiKeys = {
    findByHash: async (hash: Buffer) => state.keys.get(hash.toString('hex')) ?? null,
  };
  const license = await openLicenseDesk({
    store: licenseStore(),
    anchors: [{ source: 'evaluation', publicKey: ed25519.getPublicKey(LICENSE_KEY) }],
    clock,
    now,
    monotonicNow: () => state.nowMs,
    logger: silentLogger,
  });
  const deps: OperatorPlaneDeps = {
    logger: silentLogger,
    now,
    version: { version: '0.1.0', platform: 'standard' },
    baseUrl: () => 'https://console.example:15483',
    caPem: () => '-----BEGIN CERTIFICATE-----\n',
    caFingerprint: () => 'AA:BB',
    admitter: createAdmitter({
      apiKeys,
      keyBudget: createMemoryBudget(keyLimit),
      addressBudget: createMemoryBudget(200),
      now,
    }),
    cursors: createCursorSigner(Buffer.alloc(32, 7)),
    registry: {
      listSensors: async (query) => listSensors([...state.sensors.values()], query),
      getSensor: async (id) => state.sensors.get(id) ?? null,
      listTokens: async ({ limit, before }) =>
        [...state.tokens.values()]
          .sort((a, b) => (a.tokenId < b.tokenId ? 1 : -1))
          .filter((row) => before === null || row.tokenId < before)
          .slice(0, limit),
      revokeToken: async ({ tokenId, nowMs }) => {
        const row = state.tokens.get(tokenId);
        if (row === undefined) return null;
        const revoked = { ...row, revokedAtMs: row.revokedAtMs ?? nowMs };
        state.tokens.set(tokenId, revoked);
        return revoked;
      },
    },
    events: {
      search: async (query) => {
        state.searches += 1;
        return searchEvents(state.events, query);
      },
      transitionsOf: async ({ sensorId, limit, beforeMs = Number.POSITIVE_INFINITY }) =>
        state.transitions
          .filter((row) => row.sensorId === sensorId && row.atMs < beforeMs)
          .sort((a, b) => b.atMs - a.atMs)
          .slice(0, limit),
    },
    audit: {
      append: async (entries) => void state.audit.push(...entries),
      search: async () => [],
    },
    auditChain: { checkpoints: async () => [] },
    fleet,
    tokens: {
      create: async ({ note, ttlMs = 900_000 }) => issue('enroll', null, note, ttlMs),
      createForSensor: async ({ sensorId }) => {
        const row = state.sensors.get(sensorId);
        if (row === undefined) return refuse('not_found', 'There is no such sensor.');
        if (row.revokedAtMs !== null) return refuse('sensor_is_revoked', 'It is revoked.');
        return { ok: true, ...issue('reenroll', sensorId, '', 900_000) };
      },
    },
    revokeSensor: async ({ sensorId, reason }) => {
      const row = state.sensors.get(sensorId);
      if (row === undefined) return null;
      const revoked = { ...row, revokedAtMs: state.nowMs, revokedReason: reason };
      state.sensors.set(sensorId, revoked);
      directory.tell(sensorId, { type: 'sensor.revoked', atMs: state.nowMs, reason });
      return revoked;
    },
    license,
    sensorActors: directory,
    directories: [directory],
    feed,
    crashes,
    machines: [sensorMachine],
    probes: [{ name: 'postgresql', ping: async () => true }],
    notReadyBecause: () => null,
    metrics: createMetrics(() => fleet.counts()),
    ...more,
  };

  function issue(kind: TokenRow['kind'], sensorId: string | null, note: string, ttlMs: number) {
    const index = state.tokens.size + 1;
    const token: TokenRow = {
      tokenId: sensorIdOf(index),
      kind,
      sensorId,
      note,
      createdAtMs: state.nowMs,
      expiresAtMs: state.nowMs + ttlMs,
      consumedAtMs: null,
      revokedAtMs: null,
      consumedKeyDigest: null,
    };
    state.tokens.set(token.tokenId, token);
    const secretKind = kind === 'enroll' ? 'enrollment' : 'reenrollment';
    return { secret: formatSecret(secretKind, Buffer.alloc(32, index)), token };
  }

  /** Makes a key and returns its secret. */
  function addKey(scopes: readonly string[], expiresAtMs: number | null = null): string {
    const secret = formatSecret('apiKey', Buffer.alloc(32, state.keys.size + 1));
    const hash = createHash('sha256').update(secret).digest('hex');
    const keyId = `key-${state.keys.size + 1}`;
    state.keys.set(hash, {
      keyId,
      name: keyId,
      scopes,
      createdAtMs: NOW_MS,
      expiresAtMs,
      revokedAtMs: null,
    });
    return secret;
  }

  function addSensor(index: number, nodeName = `node-${String(index).padStart(4, '0')}`): string {
    const row = sensorRow(index, nodeName);
    state.sensors.set(row.sensorId, row);
    directory.open(row.sensorId, sensorInputOf(row, state.nowMs, DEFAULT_INTERVALS));
    return row.sensorId;
  }

  const app = await createOperatorPlane(deps);
  return {
    app,
    deps,
    state,
    directory,
    fleet,
    feed,
    apiKeys,
    addKey,
    addSensor,
    async close() {
      await app.close();
      await license.close();
      directory.closeAll();
      clock.stop();
    },
  };
}

/** The license in one variable. */
function licenseStore(): LicenseStore {
  let row: LicenseRow = { revision: 0, license: null, seenMs: 0 };
  return {
    async observe({ nowMs }) {
      row = { ...row, seenMs: Math.max(row.seenMs, nowMs) };
      return row;
    },
    async put({ envelope, nowMs, actor, seenMs }) {
      const license = { envelope, importedAtMs: nowMs, importedBy: actor };
      row = { revision: row.revision + 1, license, seenMs };
      return row;
    },
  };
}

function sensorRow(index: number, nodeName: string): SensorRow {
  return {
    sensorId: sensorIdOf(index),
    nodeName,
    flavor: 'standard',
    declaredRole: null,
    labels: {},
    system: {
      os_name: 'Debian GNU/Linux',
      os_version: '13',
      architecture: 'x64',
      kernel_version: '6.12.0',
    },
    bootId: 'boot',
    sensorVersion: '0.1.0',
    flavorMismatch: false,
    enrolledAtMs: NOW_MS,
    revokedAtMs: null,
    revokedReason: null,
    lastHeartbeatAtMs: null,
    currentNotAfterMs: NOW_MS + 700 * 3_600_000,
    facts: null,
  };
}

/** An event for examples. */
export function storedEvent(index: number, more: Partial<StoredEvent> = {}): StoredEvent {
  const at = new Date(NOW_MS - index * 1_000).toISOString();
  return {
    event_id: index.toString(16).padStart(32, '0'),
    schema_version: 1,
    sensor_id: sensorIdOf(1),
    node_name: 'node-0001',
    observed_at: at,
    received_at: at,
    event_kind: 'process_exec',
    severity: 'info',
    message: `event ${index}`,
    process: { exec_id: `x${index}`, pid: index, binary: '/usr/bin/true' },
    ...more,
  };
}

function listSensors(rows: readonly SensorRow[], query: SensorQuery): SensorRow[] {
  const keyOf = (row: { readonly nodeName: string; readonly sensorId: string }) =>
    `${row.nodeName}\n${row.sensorId}`;
  const { after } = query;
  return rows
    .filter((row) => row.nodeName.includes(query.nodeNameContains ?? ''))
    .filter((row) => after === null || keyOf(row) > keyOf(after))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .slice(0, query.limit);
}

function searchEvents(events: readonly StoredEvent[], query: EventQuery): StoredEvent[] {
  const sign = query.order === 'ascending' ? 1 : -1;
  const keyOf = (event: StoredEvent) => `${event.observed_at}\n${event.event_id}`;
  const after = query.after ? `${query.after.observedAt}\n${query.after.eventId}` : null;
  return events
    .filter((event) => Date.parse(event.observed_at) >= (query.fromMs ?? 0))
    .filter((event) => Date.parse(event.observed_at) < (query.toMs ?? Number.POSITIVE_INFINITY))
    .filter((event) => query.sensorId === undefined || event.sensor_id === query.sensorId)
    .filter((event) => query.eventKinds?.includes(event.event_kind) ?? true)
    .filter((event) => query.severities?.includes(event.severity) ?? true)
    .filter((event) => event.message.includes(query.text ?? ''))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -sign : sign))
    .filter((event) => after === null || (keyOf(event) > after ? sign : -sign) > 0)
    .filter((event) => after === null || keyOf(event) !== after)
    .slice(0, query.limit);
}
