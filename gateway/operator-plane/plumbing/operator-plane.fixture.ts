// An operator plane over small in-memory ports, for examples: real actors, real fleet picture, real admission.
import { createHash, randomBytes } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { createApiKeyDesk } from '../../../actors/access/api-key-desk.ts';
import { createFleetPicture } from '../../../actors/fleet/fleet-picture.ts';
import { createSensorDirectory, sensorInputOf } from '../../../actors/fleet/sensor.actor.ts';
import { openLicenseDesk } from '../../../actors/license/license-desk.ts';
import { createInspectionFeed } from '../../../actors/runtime/inspection-feed.ts';
import { silentLogger } from '../../../actors/runtime/silent-logger.ts';
import { createCrashLog, createSupervisor } from '../../../actors/runtime/supervisor.ts';
import { createWheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { openSettingsDesk } from '../../../actors/settings/settings-desk.ts';
import { sensorMachine } from '../../../machines/console/fleet/sensor.machine.ts';
import { refuse } from '../../../machines/errors.ts';
import { DEFAULT_INTERVALS } from '../../../machines/intervals.ts';
import { SESSION_ABSOLUTE_MS, SESSION_IDLE_MS } from '../../../machines/limits.ts';
import type { Role } from '../../../machines/trust/roles.rules.ts';
import { formatSecret } from '../../../machines/trust/secret.rules.ts';
import type { StoredEvent } from '../../../machines/wire/event.ts';
import { apiKeyCalls } from '../../../storage/memory/access/api-keys.ts';
import { createCheapHasher } from '../../../storage/memory/access/password-hasher.ts';
import { createPlainSealer } from '../../../storage/memory/access/plain-sealer.ts';
import { emptyLabels, isLabelled } from '../../../storage/memory/fleet/labels.ts';
import { createMemoryTeams } from '../../../storage/memory/fleet/teams.ts';
import { createMemoryRelational } from '../../../storage/memory/memory-relational.ts';
import { portOf } from '../../../storage/memory/plumbing/unsafe-port-of.ts';
import { createMemoryEvents } from '../../../storage/memory/telemetry/memory-events.ts';
import type { SessionRow, SessionStage } from '../../../storage/ports/access/sessions.ts';
import type { UserRow } from '../../../storage/ports/access/users.ts';
import type { SensorRow, TokenRow } from '../../../storage/ports/fleet/sensor-registry.ts';
import type { ApiKeyRow, ApiKeys, AuditEntry } from '../../../storage/ports/relational.ts';
import type { TransitionRow } from '../../../storage/ports/telemetry/event-store.ts';
import { createAdmitter } from '../../access/admitter.ts';
import { createOriginJudge } from '../../access/csrf.ts';
import { createMemoryBudget } from '../../access/rate-budget.ts';
import { SESSION_COOKIE } from '../../access/session-cookie.ts';
import { assemblePeople } from '../../assembly/people.ts';
import { assembleSecondFactor } from '../../assembly/second-factor.ts';
import { assembleSso } from '../../assembly/sso.ts';
import { createMetrics } from '../system/metrics.ts';
import { createOperatorPlane } from './app.ts';
import { createCursorSigner } from './cursor.ts';
import type { OperatorPlaneDeps } from './deps.ts';
import { licenseStore, listSensors, searchEvents } from './row-stores.fixture.ts';

/** Signs the licenses that the fixture trusts. */
export const LICENSE_KEY = Buffer.alloc(32, 9);
export const NOW_MS = Date.parse('2026-03-01T12:00:00.000Z');
export const sensorIdOf = (index: number) =>
  `00000000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`;

export type Fixture = Awaited<ReturnType<typeof createFixture>>;

/** Builds everything; `more` replaces single dependencies. */
export async function createFixture(
  more: Partial<OperatorPlaneDeps> = {},
  keyLimit = 1_000,
  addressLimit = 200,
) {
  const state = {
    nowMs: NOW_MS,
    keys: new Map<string, ApiKeyRow>(),
    users: new Map<string, UserRow>(),
    sessions: new Map<string, SessionRow>(),
    owned: new Set<string>(),
    sensors: new Map<string, SensorRow>(),
    tokens: new Map<string, TokenRow>(),
    events: [] as StoredEvent[],
    transitions: [] as TransitionRow[],
    audit: [] as AuditEntry[],
    searches: 0,
  };
  let usersMade = 0;
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
  const record = (entry: AuditEntry) => void state.audit.push(entry);
  const hasUser = (userId: string) => state.users.has(userId);
  const apiKeys = portOf<ApiKeys>('', apiKeyCalls(record, hasUser, state.keys), async (_, run) =>
    run(),
  );
  const labels = emptyLabels();
  const owned = createMemoryTeams(labels, { record, hasUser, sensors: state.sensors });
  const license = await openLicenseDesk({
    store: licenseStore(),
    anchors: [{ source: 'evaluation', publicKey: ed25519.getPublicKey(LICENSE_KEY) }],
    clock,
    now,
    monotonicNow: () => state.nowMs,
    logger: silentLogger,
  });
  const relational = createMemoryRelational();
  const telemetry = createMemoryEvents(1);
  const settings = await openSettingsDesk({
    ...{ store: relational.settings, base: DEFAULT_INTERVALS },
    ...{ clock, now, logger: silentLogger },
  });
  const audit = {
    append: async (entries: readonly AuditEntry[]) => void state.audit.push(...entries),
  };
  const stores: typeof relational = {
    ...relational,
    users: {
      ...relational.users,
      get: async (id) => state.users.get(id) ?? relational.users.get(id),
    },
    sessions: {
      ...relational.sessions,
      findByHash: async (hash) => state.sessions.get(hash.toString('hex')) ?? null,
    },
  };
  const people = assemblePeople({
    stores: { ...stores, audit },
    ...{ hasher: createCheapHasher(), settings, now },
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
      sessions: { findByHash: async (hash) => state.sessions.get(hash.toString('hex')) ?? null },
      users: { get: async (userId) => state.users.get(userId) ?? null },
      budgets: {
        large: createMemoryBudget(keyLimit),
        small: createMemoryBudget(keyLimit),
        address: createMemoryBudget(addressLimit),
      },
      seen: { keys: forgetful, sessions: forgetful },
      sessionIdleMs: () => SESSION_IDLE_MS,
      now,
    }),
    access: {
      owns: async (userId, sensorId) =>
        state.owned.has(`${userId} ${sensorId}`) || owned.teams.owns(userId, sensorId),
      judgeOrigin: createOriginJudge(() => 'https://console.example:15483'),
      teams: owned.teams,
      apiKeys: createApiKeyDesk({ apiKeys, now }),
      settings,
      people,
      secondFactor: assembleSecondFactor(
        {
          ...{ settings, stores, sealer: createPlainSealer(), time: { now } },
          ...{ config: { baseUrl: 'https://console.example:15483' }, logger: silentLogger },
        },
        people,
      ),
      sso: assembleSso(
        {
          ...{ stores: { ...relational, audit }, sealer: createPlainSealer(), clock },
          ...{ time: { now, monotonicNow: now }, logger: silentLogger },
          config: { baseUrl: 'https://console.example:15483', ssoAllowsLoopback: false },
        },
        people,
      ),
    },
    cursors: createCursorSigner(Buffer.alloc(32, 7)),
    registry: {
      listSensors: async (query) => {
        const { tag, groupId, teamId } = query;
        const wanted = {
          ...(tag === undefined ? {} : { tag }),
          ...(groupId === undefined ? {} : { groupId }),
          ...(teamId === undefined ? {} : { teamId }),
        };
        const rows = [...state.sensors.values()];
        return listSensors(
          rows.filter((row) => isLabelled(labels, row.sensorId, wanted)),
          query,
        );
      },
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
    telemetry: {
      ...{ ...telemetry.telemetry, ...telemetry.baselines },
      inventory: relational.inventory,
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

  /** Makes a key and returns its secret; without a maker it is the Console's own. */
  function addKey(
    scopes: readonly string[],
    expiresAtMs: number | null = null,
    userId: string | null = null,
  ): string {
    const secret = formatSecret('apiKey', Buffer.alloc(32, state.keys.size + 1));
    const hash = createHash('sha256').update(secret).digest('hex');
    const keyId = `key-${state.keys.size + 1}`;
    state.keys.set(hash, {
      keyId,
      name: keyId,
      scopes,
      userId,
      createdAtMs: NOW_MS,
      lastUsedAtMs: null,
      expiresAtMs,
      revokedAtMs: null,
    });
    return secret;
  }

  /** Makes a person and returns its id. */
  function addUser(role: Role, more: Partial<UserRow> = {}): string {
    usersMade += 1;
    const userId = sensorIdOf(0x1000 + usersMade);
    state.users.set(userId, { ...userRow(userId, role), ...more });
    return userId;
  }

  /** Gives a person a session and returns the header that carries it. */
  function addSession(userId: string, stage: SessionStage = 'full'): { readonly cookie: string } {
    const secret = randomBytes(32).toString('base64url');
    const hash = createHash('sha256').update(secret).digest();
    state.sessions.set(hash.toString('hex'), {
      ...{ hash, sessionId: sensorIdOf(0x2000 + state.sessions.size), userId, stage },
      ...{ method: 'password', address: '127.0.0.1', userAgent: '', endedAtMs: null },
      ...{ createdAtMs: state.nowMs, lastSeenAtMs: state.nowMs },
      expiresAtMs: state.nowMs + SESSION_ABSOLUTE_MS,
    });
    return { cookie: `${SESSION_COOKIE}=${secret}` };
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
    addUser,
    addSession,
    ...{ addSensor, stored: { telemetry, relational } },
    async close() {
      await app.close();
      await license.close();
      settings.close();
      directory.closeAll();
      clock.stop();
    },
  };
}

function userRow(userId: string, role: Role): UserRow {
  return {
    ...{ userId, email: `${userId}@example.org`, displayName: role, role, status: 'active' },
    ...{ tags: [], passwordHash: null, passwordChangedAtMs: null, createdAtMs: NOW_MS },
    ...{ lastLoginAtMs: null, revision: 1 },
    mfa: { state: 'off', sealedSecret: null, lastStep: 0, changedAtMs: null },
  };
}

const forgetful = { note: () => undefined, noted: () => null, close: async () => undefined };

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
