// What a Console keeps, in its two databases: one line for each capability that owns stores. A further port of a
// capability is declared in the stores.ts of its folders, and nowhere else.
import type { AccessStores } from './access/stores.ts';
import type { AuditStores } from './audit/stores.ts';
import type { ContainmentStores } from './containment/stores.ts';
import type { DeliveryStores } from './delivery/stores.ts';
import type { DetectionStores } from './detection/stores.ts';
import type { DigestStores } from './digest/stores.ts';
import type { ExportSources, ExportStores } from './exports/stores.ts';
import type { FleetStores } from './fleet/stores.ts';
import type { HuntingStores } from './hunting/stores.ts';
import type { LicenseStores } from './license/stores.ts';
import type { RelationalHealth } from './plumbing/store-unavailable.ts';
import type { PolicyStores } from './policy/stores.ts';
import type { RuntimeStores } from './runtime/stores.ts';
import type { SettingsStores } from './settings/stores.ts';
import type { SiemStores } from './siem/stores.ts';
import type { InventoryStores, TelemetryStores } from './telemetry/stores.ts';

/** PostgreSQL: the authority of control state. */
export type RelationalStores = { readonly health: RelationalHealth } & AccessStores &
  AuditStores &
  ContainmentStores &
  DeliveryStores &
  DetectionStores &
  DigestStores &
  ExportStores &
  FleetStores &
  HuntingStores &
  InventoryStores &
  LicenseStores &
  PolicyStores &
  RuntimeStores &
  SettingsStores &
  SiemStores;

/** ClickHouse: what sensors saw. invariant: I15 */
export type AnalyticsStores = ExportSources & TelemetryStores;
