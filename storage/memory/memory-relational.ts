// Every relational port in memory on one switch, as the real ones share one database. Used by tests and the simulated
// fleet only.

import type { SessionStore } from '../ports/access/sessions.ts';
import type { SsoStore } from '../ports/access/sso-store.ts';
import type { UserStore } from '../ports/access/users.ts';
import type { AuditChain } from '../ports/audit/audit-chain.ts';
import type { FactWriter, SensorRegistry } from '../ports/fleet/sensor-registry.ts';
import type { TeamStore } from '../ports/fleet/teams.ts';
import type { LicenseStore } from '../ports/license/license-store.ts';
import type { ApiKeys, AuditLog, InventoryStore, RelationalHealth } from '../ports/relational.ts';
import type { SettingsStore } from '../ports/settings/settings-store.ts';
import { createMemoryApiKeys } from './access/api-keys.ts';
import { createMemorySso } from './access/sso-store.ts';
import { createMemoryPeople } from './access/users.ts';
import { createMemoryAudit } from './audit/audit-log.ts';
import { emptyLabels, isLabelled } from './fleet/labels.ts';
import { createMemoryRegistry } from './fleet/memory-registry.ts';
import { createMemoryTeams } from './fleet/teams.ts';
import { createMemoryLicense } from './license/license-store.ts';
import { createMemorySettings } from './settings/settings-store.ts';
import { createMemoryInventory } from './telemetry/inventory-store.ts';

export type MemoryRelational = {
  readonly sensors: SensorRegistry;
  readonly facts: FactWriter;
  readonly apiKeys: ApiKeys;
  readonly inventory: InventoryStore;
  readonly audit: AuditLog;
  readonly auditChain: AuditChain;
  readonly license: LicenseStore;
  readonly users: UserStore;
  readonly sessions: SessionStore;
  readonly teams: TeamStore;
  readonly sso: SsoStore;
  readonly settings: SettingsStore;
  readonly health: RelationalHealth;
  /** Away: every port behaves as when the database is gone. */
  setAway(away: boolean): void;
};

/** Makes every relational port, empty. */
export function createMemoryRelational(): MemoryRelational {
  const log = createMemoryAudit();
  const labels = emptyLabels();
  const registry = createMemoryRegistry(log, (id, filter) => isLabelled(labels, id, filter));
  const sections = createMemoryInventory();
  const licenses = createMemoryLicense(log);
  const people = createMemoryPeople(log.record);
  const keys = createMemoryApiKeys(log.record, people.has);
  people.onRemoved(keys.dropUser);
  const owned = createMemoryTeams(labels, {
    record: log.record,
    hasUser: people.has,
    sensors: registry.state.sensors,
  });
  const providers = createMemorySso(log.record);
  const choices = createMemorySettings(log);
  let isAway = false;
  return {
    sensors: registry.sensors,
    facts: registry.facts,
    apiKeys: keys.apiKeys,
    inventory: sections.inventory,
    audit: log.audit,
    auditChain: log.chain,
    license: licenses.license,
    users: people.users,
    sessions: people.sessions,
    teams: owned.teams,
    sso: providers.sso,
    settings: choices.settings,
    health: { ping: async () => !isAway },
    setAway(away) {
      isAway = away;
      for (const one of [log, registry, keys, sections, licenses, people, owned, choices])
        one.setAway(away);
    },
  };
}
