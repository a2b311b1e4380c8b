// Every call of the reference sensor registry, each running to its end at once: the same refusals in the same order as
// the real one. Who may call and what stands between is the business of whoever makes a port of it.
import { auditOfRevocation } from '../../ports/audit/audit-entries.ts';
import type {
  BriefSensor,
  HeartbeatFacts,
  SensorRegistry,
  SensorRow,
} from '../../ports/fleet/sensor-registry.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';
import { enroll } from '../trust/registry-enroll.ts';
import { activate, renew } from '../trust/registry-renew.ts';
import { createToken, findToken, listTokens, revokeToken } from '../trust/registry-tokens.ts';
import {
  identitiesOf,
  isAfter,
  orderedSensors,
  type RegistryState,
  sensorOf,
} from './registry-state.ts';

export type RegistryPort = Omit<SensorRegistry, 'watchIdentities'>;

/** The calls on a state; watching is no call. */
export function registryCalls(state: RegistryState): Calls<RegistryPort> {
  return {
    createToken: (input) => createToken(state, input),
    findToken: (hash) => findToken(state, hash),
    listTokens: (query) => listTokens(state, query),
    revokeToken: (input) => revokeToken(state, input),
    enroll: (input) => enroll(state, input),
    addPendingCertificate: (input) => renew(state, input),
    activateCertificate: (input) => activate(state, input),
    revoke: (input) => revoke(state, input),
    loadIdentities: () => identitiesOf(state),
    identitiesOf: (sensorId) => identitiesOf(state, sensorId),
    loadSensors: () => orderedSensors(state),
    getSensor: (sensorId) => sensorOf(state, sensorId),
    listSensors: (query) => listSensors(state, query),
    listBriefly: (query) => listSensors(state, query).map(briefOf),
    sensorsOf: (ids) => orderedSensors(state).filter(({ sensorId }) => ids.includes(sensorId)),
  };
}

/** Keeps a report unless there is a newer one or no such sensor. */
export function keepFacts(state: RegistryState, report: HeartbeatFacts): void {
  const own = state.sensors.get(report.sensorId);
  if (own === undefined || (own.lastHeartbeatAtMs ?? 0) > report.receivedAtMs) return;
  const told = storableText(report.declaredRole ?? '');
  const isChanged = (state.toldRoles.get(report.sensorId) ?? told) !== told;
  state.toldRoles.set(report.sensorId, told);
  state.sensors.set(report.sensorId, {
    ...own,
    flavor: report.flavor,
    flavorMismatch: report.flavorMismatch,
    declaredRole: isChanged ? told || null : own.declaredRole,
    lastHeartbeatAtMs: report.receivedAtMs,
    bootId: storableText(report.bootId),
    sensorVersion: storableText(report.sensorVersion),
    system: report.system,
    facts: report.facts,
  });
}

function revoke(
  state: RegistryState,
  input: Parameters<SensorRegistry['revoke']>[0],
): SensorRow | null {
  const { sensorId, nowMs, reason } = input;
  const sensor = state.sensors.get(sensorId);
  const isNew = sensor?.revokedAtMs === null;
  const result = isNew ? 'ok' : sensor === undefined ? 'not_found' : 'unchanged';
  state.record(auditOfRevocation(input, result));
  if (sensor === undefined) return null;
  if (isNew) {
    const revokedReason = storableText(reason);
    state.sensors.set(sensorId, { ...sensor, revokedAtMs: nowMs, revokedReason });
  }
  state.tellChanged(sensorId);
  return sensorOf(state, sensorId);
}

function briefOf(row: SensorRow): BriefSensor {
  const { sensorId, nodeName, flavor, system, sensorVersion, enrolledAtMs, revokedAtMs } = row;
  const { lastHeartbeatAtMs, currentNotAfterMs, facts } = row;
  const engine = (facts?.engine ?? null) as { readonly kind?: unknown } | null;
  return {
    ...{ sensorId, nodeName, flavor, system, sensorVersion, enrolledAtMs, revokedAtMs },
    ...{ lastHeartbeatAtMs, currentNotAfterMs },
    engineKind: typeof engine?.kind === 'string' ? engine.kind : null,
  };
}

function listSensors(
  state: RegistryState,
  { limit, after, nodeNameContains = '', ...labels }: Parameters<SensorRegistry['listSensors']>[0],
): readonly SensorRow[] {
  const part = nodeNameContains.toLowerCase();
  return orderedSensors(state)
    .filter((one) => after === null || isAfter(one, after))
    .filter((one) => one.nodeName.toLowerCase().includes(part))
    .filter((one) => state.isLabelled(one.sensorId, labels))
    .slice(0, limit);
}
