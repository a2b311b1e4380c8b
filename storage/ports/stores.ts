// What a Console keeps, in its two databases. Every port is declared by the capability that owns it; here they are one.

import type { SessionStore } from './access/sessions.ts';
import type { SsoStore } from './access/sso-store.ts';
import type { UserStore } from './access/users.ts';
import type { AuditChain } from './audit/audit-chain.ts';
import type { FactWriter, SensorRegistry } from './fleet/sensor-registry.ts';
import type { TeamStore } from './fleet/teams.ts';
import type { LicenseStore } from './license/license-store.ts';
import type { ApiKeys, AuditLog, InventoryStore, RelationalHealth } from './relational.ts';
import type { Designation } from './runtime/designation.ts';
import type { SettingsStore } from './settings/settings-store.ts';
import type { BaselineStore } from './telemetry/baseline-store.ts';
import type { EventSink, EventStore } from './telemetry/event-store.ts';
import type { TelemetryStore } from './telemetry/telemetry-store.ts';

/** PostgreSQL: the authority of control state. */
export type RelationalStores = {
  readonly sensors: SensorRegistry;
  readonly facts: FactWriter;
  readonly apiKeys: ApiKeys;
  readonly inventory: InventoryStore;
  readonly audit: AuditLog;
  readonly auditChain: AuditChain;
  readonly license: LicenseStore;
  readonly designation: Designation;
  readonly users: UserStore;
  readonly sessions: SessionStore;
  readonly teams: TeamStore;
  readonly sso: SsoStore;
  readonly settings: SettingsStore;
  readonly health: RelationalHealth;
};

/** ClickHouse: what sensors saw. invariant: I15 */
export type AnalyticsStores = {
  readonly events: EventStore;
  readonly sink: EventSink;
  readonly telemetry: TelemetryStore;
  readonly baselines: BaselineStore;
};
