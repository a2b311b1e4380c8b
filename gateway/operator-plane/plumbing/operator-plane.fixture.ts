// A Console over memory, for examples: the real one, whose clock stands still and whose rows a test puts in place.
import { createHash, randomBytes } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { SESSION_ABSOLUTE_MS } from '../../../machines/limits.ts';
import type { Role } from '../../../machines/trust/roles.rules.ts';
import { formatSecret } from '../../../machines/trust/secret.rules.ts';
import type { StoredEvent } from '../../../machines/wire/event.ts';
import {
  createMemoryRelational,
  type MemoryRelational,
} from '../../../storage/memory/memory-relational.ts';
import { createMemoryEvents } from '../../../storage/memory/telemetry/memory-events.ts';
import type { SessionStage } from '../../../storage/ports/access/sessions.ts';
import type { UserRow } from '../../../storage/ports/access/users.ts';
import type { SensorRow } from '../../../storage/ports/fleet/sensor-registry.ts';
import type { RelationalStores } from '../../../storage/ports/stores.ts';
import type { EventStore, TransitionRow } from '../../../storage/ports/telemetry/event-store.ts';
import { SESSION_COOKIE } from '../../access/session-cookie.ts';
import { access } from '../../capabilities/access/access.ts';
import { fleet as fleetOf } from '../../capabilities/fleet/fleet.ts';
import { settings } from '../../capabilities/settings/settings.ts';
import { trust } from '../../capabilities/trust/trust.ts';
import { CAPABILITIES } from '../../capabilities.ts';
import { runConsole } from '../../console.ts';
import type { ConsolePorts } from '../../console-ports.ts';
import { configFrom, memoryPorts } from '../../memory-ports.fixture.ts';
import { processTime } from '../../process/time.ts';
import { searchOver } from './row-stores.fixture.ts';

/** Signs the licenses that the fixture trusts. */
export const LICENSE_KEY = Buffer.alloc(32, 9);
export const NOW_MS = Date.parse('2026-03-01T12:00:00.000Z');
export const sensorIdOf = (index: number) =>
  `00000000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`;

export type Fixture = Awaited<ReturnType<typeof createFixture>>;
export type FixtureOptions = {
  readonly ports?: Partial<ConsolePorts>;
  readonly relational?: Partial<Pick<RelationalStores, 'audit' | 'auditChain' | 'health'>>;
  readonly events?: Partial<EventStore>;
};

/** What a test looks at and changes. */
function stateOf({ state }: MemoryRelational) {
  return {
    ...state,
    nowMs: NOW_MS,
    owned: new Set<string>(),
    events: [] as StoredEvent[],
    transitions: [] as TransitionRow[],
    /** What was refused, oldest first. */
    refused: () => state.audit.filter(({ result }) => /^4\d\d$/.test(result)),
  };
}
type State = ReturnType<typeof stateOf>;

/** Starts it; `more` replaces single parts. */
export async function createFixture(
  more: FixtureOptions = {},
  keyLimit = 1_000,
  addressLimit = 200,
) {
  const memory = createMemoryRelational();
  const telemetry = createMemoryEvents(1);
  const state = stateOf(memory);
  const relational = { ...relationalOver(memory, state), ...more.relational };
  const now = () => state.nowMs;
  let usersMade = 0;
  const started = await runConsole(
    memoryPorts(
      {
        relational,
        analytics: { ...telemetry, events: eventsOver(telemetry.events, state, more) },
      },
      {
        config: configFrom({ base_url: 'https://console.example:15483' }),
        time: { ...processTime, now, monotonicNow: now },
        requestBudgets: { large: keyLimit, small: keyLimit, address: addressLimit },
        openLicenseTrust: async () => ({
          anchors: [{ source: 'evaluation', publicKey: ed25519.getPublicKey(LICENSE_KEY) }],
          evaluation: null,
        }),
        ...more.ports,
      },
    ),
    CAPABILITIES,
  );
  if (!started.ok) throw new Error(`${started.step}: ${started.reason}`);
  const { app, context, stop } = started.console;
  const fleet = context.use(fleetOf);

  /** Makes a key and returns its secret; without a maker it is the Console's own. */
  function addKey(
    scopes: readonly string[],
    expiresAtMs: number | null = null,
    userId: string | null = null,
  ): string {
    // The number whole: by its last byte alone the 257th key would take the place of the first.
    const random = Buffer.alloc(32);
    random.writeUInt32BE(state.keys.size + 1);
    const secret = formatSecret('apiKey', random);
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
      ...{ createdAtMs: state.nowMs, authenticatedAtMs: state.nowMs, lastSeenAtMs: state.nowMs },
      expiresAtMs: state.nowMs + SESSION_ABSOLUTE_MS,
    });
    return { cookie: `${SESSION_COOKIE}=${secret}` };
  }

  function addSensor(index: number, nodeName = `node-${String(index).padStart(4, '0')}`): string {
    const row = sensorRow(index, nodeName);
    state.sensors.set(row.sensorId, row);
    fleet.sensors.open(row);
    return row.sensorId;
  }

  return {
    app,
    context,
    relational,
    state,
    access: context.use(access),
    admitter: context.use(access).admitter,
    settings: context.use(settings),
    revokeSensor: context.use(trust).revokeSensor,
    directory: fleet.directory,
    fleet: fleet.liveView,
    feed: fleet.feed,
    addKey,
    addUser,
    addSession,
    addSensor,
    stored: { telemetry, relational: memory },
    close: stop,
  };
}

/** The stores, where another Console seals the trail and whoever is named as an owner is one. */
function relationalOver(memory: MemoryRelational, state: State): RelationalStores {
  const { teams, auditChain } = memory;
  return {
    ...memory,
    auditChain: sealedElsewhere(auditChain),
    teams: {
      ...teams,
      owns: async (userId, sensorId) =>
        state.owned.has(`${userId} ${sensorId}`) || teams.owns(userId, sensorId),
    },
  };
}

/** A chain that the Console under test does not seal, so that a test can. */
export function sealedElsewhere(
  chain: RelationalStores['auditChain'],
): RelationalStores['auditChain'] {
  return { ...chain, seal: async () => ({ isBusy: true }), checkpoint: async () => null };
}

function eventsOver(memory: EventStore, state: State, { events }: FixtureOptions): EventStore {
  return {
    ...memory,
    search: async (query) => searchOver(state.events).search(query),
    histogram: async (query) => searchOver(state.events).histogram(query),
    topValues: async (query) => searchOver(state.events).topValues(query),
    transitionsOf: async ({ sensorId, limit, beforeMs = Infinity, fromMs = 0, actorKind }) =>
      state.transitions
        .filter((row) => row.sensorId === sensorId && row.atMs < beforeMs && row.atMs >= fromMs)
        .filter((row) => actorKind === undefined || row.actorKind === actorKind)
        .sort((a, b) => b.atMs - a.atMs)
        .slice(0, limit),
    ...events,
  };
}

function userRow(userId: string, role: Role): UserRow {
  return {
    ...{ userId, email: `${userId}@example.org`, displayName: role, role, status: 'active' },
    ...{ tags: [], passwordHash: null, passwordChangedAtMs: null, mustChangePassword: false },
    ...{ createdAtMs: NOW_MS, lastLoginAtMs: null, revision: 1 },
    mfa: { state: 'off', sealedSecret: null, lastStep: 0, changedAtMs: null },
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
