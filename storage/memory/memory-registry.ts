// The reference sensor registry: the same refusals in the same order as the real one, in plain memory, audited into the
// shared log. Used by tests and the simulated fleet only.
import type {
  FactWriter,
  HeartbeatFacts,
  SensorRegistry,
  SensorRow,
} from '../ports/sensor-registry.ts';
import { storableText } from '../ports/stored-text.ts';
import { createMemoryAudit, type MemoryAudit } from './audit-log.ts';
import { createAwaySwitch } from './away-switch.ts';
import { enroll } from './registry-enroll.ts';
import { activate, renew } from './registry-renew.ts';
import {
  identitiesOf,
  isAfter,
  orderedSensors,
  type RegistryState,
  sensorOf,
  tellChanged,
} from './registry-state.ts';
import { createToken, findToken, listTokens, revokeToken } from './registry-tokens.ts';

export type MemoryRegistry = {
  readonly sensors: SensorRegistry;
  readonly facts: FactWriter;
  /** Away: every call throws StoreUnavailable, facts are refused and watchers are told. */
  setAway(away: boolean): void;
};

/** Makes an empty registry with the fact writer that belongs to it. */
export function createMemoryRegistry(
  audit: Pick<MemoryAudit, 'record'> = createMemoryAudit(),
): MemoryRegistry {
  const state: RegistryState = {
    sensors: new Map(),
    tokens: new Map(),
    certificates: new Map(),
    watches: new Set(),
    record: audit.record,
  };
  const { guard, isAway, setAway } = createAwaySwitch((away) => {
    for (const watch of state.watches) (away ? watch.onLost : watch.onRestored)();
  });
  const sensors: SensorRegistry = {
    createToken: guard((input) => createToken(state, input)),
    findToken: guard((hash) => findToken(state, hash)),
    listTokens: guard((query) => listTokens(state, query)),
    revokeToken: guard((input) => revokeToken(state, input)),
    enroll: guard((input) => enroll(state, input)),
    addPendingCertificate: guard((input) => renew(state, input)),
    activateCertificate: guard((input) => activate(state, input)),
    revoke: guard((input) => revoke(state, input)),
    loadIdentities: guard(() => identitiesOf(state)),
    identitiesOf: guard((sensorId) => identitiesOf(state, sensorId)),
    loadSensors: guard(() => orderedSensors(state)),
    getSensor: guard((sensorId) => sensorOf(state, sensorId)),
    listSensors: guard((query) => listSensors(state, query)),
    watchIdentities: guard((watch) => {
      state.watches.add(watch);
      return async () => void state.watches.delete(watch);
    }),
  };
  return { sensors, facts: createFacts(state, isAway), setAway };
}

function revoke(
  state: RegistryState,
  { sensorId, nowMs, reason, actor }: Parameters<SensorRegistry['revoke']>[0],
): SensorRow | null {
  const sensor = state.sensors.get(sensorId);
  const isNew = sensor?.revokedAtMs === null;
  state.record({
    atMs: nowMs,
    actor,
    action: 'sensor.revoke',
    target: sensorId,
    result: isNew ? 'ok' : sensor === undefined ? 'not_found' : 'unchanged',
    detail: { reason },
  });
  if (sensor === undefined) return null;
  if (isNew) {
    const revokedReason = storableText(reason);
    state.sensors.set(sensorId, { ...sensor, revokedAtMs: nowMs, revokedReason });
  }
  tellChanged(state, sensorId);
  return sensorOf(state, sensorId);
}

function listSensors(
  state: RegistryState,
  { limit, after, nodeNameContains = '' }: Parameters<SensorRegistry['listSensors']>[0],
): readonly SensorRow[] {
  const part = nodeNameContains.toLowerCase();
  return orderedSensors(state)
    .filter((one) => after === null || isAfter(one, after))
    .filter((one) => one.nodeName.toLowerCase().includes(part))
    .slice(0, limit);
}

function createFacts(state: RegistryState, isAway: () => boolean): FactWriter {
  let isClosed = false;
  function keep(report: HeartbeatFacts): void {
    const own = state.sensors.get(report.sensorId);
    if (own === undefined || (own.lastHeartbeatAtMs ?? 0) > report.receivedAtMs) return;
    state.sensors.set(report.sensorId, {
      ...own,
      lastHeartbeatAtMs: report.receivedAtMs,
      bootId: storableText(report.bootId),
      sensorVersion: storableText(report.sensorVersion),
      system: report.system,
      facts: report.facts,
    });
  }
  return {
    async write(report) {
      if (isAway() || isClosed) return false;
      keep(report);
      return true;
    },
    queuedRows: () => 0,
    async close() {
      isClosed = true;
    },
  };
}
