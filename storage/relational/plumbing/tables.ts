// The tables as Kysely sees them, one line for each capability that owns some; the truth is migrations/*.sql.
import type { AccessTables } from '../access/tables.ts';
import type { AuditTables } from '../audit/tables.ts';
import type { ContainmentTables } from '../containment/tables.ts';
import type { DeliveryTables } from '../delivery/tables.ts';
import type { FleetTables } from '../fleet/tables.ts';
import type { LicenseTables } from '../license/tables.ts';
import type { PolicyTables } from '../policy/tables.ts';
import type { RuntimeTables } from '../runtime/tables.ts';
import type { SettingsTables } from '../settings/tables.ts';
import type { InventoryTables } from '../telemetry/tables.ts';

export type Database = AccessTables &
  AuditTables &
  ContainmentTables &
  DeliveryTables &
  FleetTables &
  LicenseTables &
  PolicyTables &
  RuntimeTables &
  SettingsTables &
  InventoryTables;
