// Every relational port in memory on one switch, as the real ones share one database. Used by tests and the simulated
// fleet only.

import type { RelationalStores } from '../ports/stores.ts';
import { createMemoryApiKeys, type MemoryApiKeys } from './access/api-keys.ts';
import { createMemoryPeople } from './access/people.ts';
import type { PeopleState } from './access/people-state.ts';
import { createMemorySso } from './access/sso-store.ts';
import { createMemoryAudit, type MemoryAudit } from './audit/audit-log.ts';
import { createMemoryContainment } from './containment/containment-orders.ts';
import { createMemoryDelivery } from './delivery/webhook-store.ts';
import { emptyLabels, isLabelled } from './fleet/labels.ts';
import { createMemoryRegistry } from './fleet/memory-registry.ts';
import type { RegistryState } from './fleet/registry-state.ts';
import { createMemoryTeams } from './fleet/teams.ts';
import { createMemoryLicense } from './license/license-store.ts';
import { createMemoryPolicies } from './policy/policy-store.ts';
import { createMemoryRollouts } from './policy/rollout-store.ts';
import { createMemoryDesignation } from './runtime/designation.ts';
import { createMemorySettings } from './settings/settings-store.ts';
import { createMemoryInventory } from './telemetry/inventory-store.ts';

export type MemoryRelational = RelationalStores & {
  /** What they hold, for tests that begin in the middle. */
  readonly state: MemoryState;
  /** Away: every port behaves as when the database is gone. */
  setAway(away: boolean): void;
};

export type MemoryState = Pick<RegistryState, 'sensors' | 'tokens'> &
  Pick<PeopleState, 'users' | 'sessions'> & {
    readonly keys: MemoryApiKeys['rows'];
    readonly audit: MemoryAudit['rows'];
  };

/** Makes every relational port, empty. */
export function createMemoryRelational(): MemoryRelational {
  const tenures = createMemoryDesignation();
  const log = createMemoryAudit(tenures.fence);
  const labels = emptyLabels();
  const registry = createMemoryRegistry(log, (id, filter) => isLabelled(labels, id, filter));
  const sections = createMemoryInventory();
  const licenses = createMemoryLicense(log);
  const people = createMemoryPeople(log.record);
  const keys = createMemoryApiKeys(log.record, people);
  people.onRemoved(keys.dropUser);
  people.onReset(keys.endOf);
  const owned = createMemoryTeams(labels, {
    record: log.record,
    hasUser: people.has,
    sensors: registry.state.sensors,
  });
  const providers = createMemorySso(log.record);
  const choices = createMemorySettings(log);
  const orders = createMemoryContainment(registry.state);
  const hasSensor = (sensorId: string): boolean => registry.state.sensors.has(sensorId);
  const outgoing = createMemoryDelivery({ record: log.record, fence: tenures.fence, hasSensor });
  const moves = new Map();
  const documents = createMemoryPolicies({ record: log.record, fence: tenures.fence, moves });
  const rolled = createMemoryRollouts(registry.state.sensors, moves);
  const parts = [log, registry, keys, sections, licenses, people, owned];
  const others = [choices, tenures, orders, documents, outgoing, rolled];
  let isAway = false;
  return {
    sensors: registry.sensors,
    facts: registry.facts,
    apiKeys: keys.apiKeys,
    inventory: sections.inventory,
    audit: log.audit,
    auditChain: log.chain,
    license: licenses.license,
    designation: tenures.designation,
    users: people.users,
    userPasswords: people.userPasswords,
    passwordLinks: people.passwordLinks,
    secondFactors: people.secondFactors,
    securityKeys: people.securityKeys,
    recoveryCodes: people.recoveryCodes,
    loginFailures: people.loginFailures,
    sessions: people.sessions,
    teams: owned.teams,
    sso: providers.sso,
    settings: choices.settings,
    containment: orders.containment,
    policies: documents.policies,
    webhooks: outgoing.webhooks,
    deliveries: outgoing.deliveries,
    rollouts: rolled.rollouts,
    health: { ping: async () => !isAway },
    state: { ...registry.state, ...people.state, keys: keys.rows, audit: log.rows },
    setAway(away) {
      isAway = away;
      for (const one of [...parts, ...others]) one.setAway(away);
    },
  };
}
