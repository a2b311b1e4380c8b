// What a Console keeps, in its two databases. Every port is declared by the capability that owns it; here they are one.

import type { ApiKeys } from './access/api-keys.ts';
import type { LoginFailureStore } from './access/login-failures.ts';
import type { PasswordLinks } from './access/password-links.ts';
import type { RecoveryCodes, SecondFactorStore } from './access/second-factors.ts';
import type { SecurityKeyStore } from './access/security-keys.ts';
import type { SessionStore } from './access/sessions.ts';
import type { SsoStore } from './access/sso-store.ts';
import type { PasswordStore } from './access/user-passwords.ts';
import type { UserStore } from './access/users.ts';
import type { AuditChain } from './audit/audit-chain.ts';
import type { AuditLog } from './audit/audit-log.ts';
import type { ContainmentOrders } from './containment/containment-orders.ts';
import type { DeliveryStore } from './delivery/delivery-store.ts';
import type { WebhookStore } from './delivery/webhook-store.ts';
import type { FactWriter, SensorRegistry } from './fleet/sensor-registry.ts';
import type { TeamStore } from './fleet/teams.ts';
import type { LicenseStore } from './license/license-store.ts';
import type { RelationalHealth } from './plumbing/store-unavailable.ts';
import type { PolicyStore } from './policy/policy-store.ts';
import type { RolloutStore } from './policy/rollout-store.ts';
import type { Designation } from './runtime/designation.ts';
import type { SettingsStore } from './settings/settings-store.ts';
import type { BaselineStore } from './telemetry/baseline-store.ts';
import type { EventSink, EventStore } from './telemetry/event-store.ts';
import type { InventoryStore } from './telemetry/inventory-store.ts';
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
  readonly userPasswords: PasswordStore;
  readonly passwordLinks: PasswordLinks;
  readonly secondFactors: SecondFactorStore;
  readonly recoveryCodes: RecoveryCodes;
  readonly securityKeys: SecurityKeyStore;
  readonly loginFailures: LoginFailureStore;
  readonly sessions: SessionStore;
  readonly teams: TeamStore;
  readonly sso: SsoStore;
  readonly settings: SettingsStore;
  readonly containment: ContainmentOrders;
  readonly policies: PolicyStore;
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
  readonly rollouts: RolloutStore;
  readonly health: RelationalHealth;
};

/** What is kept of people. */
export type PeopleStores = Pick<
  RelationalStores,
  | 'users'
  | 'userPasswords'
  | 'passwordLinks'
  | 'secondFactors'
  | 'recoveryCodes'
  | 'securityKeys'
  | 'loginFailures'
  | 'sessions'
>;

/** ClickHouse: what sensors saw. invariant: I15 */
export type AnalyticsStores = {
  readonly events: EventStore;
  readonly sink: EventSink;
  readonly telemetry: TelemetryStore;
  readonly baselines: BaselineStore;
};
