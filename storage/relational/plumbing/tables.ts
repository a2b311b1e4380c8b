// The tables as Kysely sees them, one line for each capability that owns some; the truth is migrations/*.sql.
import type { AccessTables } from '../access/tables.ts';
import type { AuditTables } from '../audit/tables.ts';
import type { ContainmentTables } from '../containment/tables.ts';
import type { DeliveryTables } from '../delivery/tables.ts';
import type { DetectionTables } from '../detection/tables.ts';
import type { DigestTables } from '../digest/tables.ts';
import type { ExportTables } from '../exports/tables.ts';
import type { FleetTables } from '../fleet/tables.ts';
import type { HuntingTables } from '../hunting/tables.ts';
import type { LicenseTables } from '../license/tables.ts';
import type { PolicyTables } from '../policy/tables.ts';
import type { RuntimeTables } from '../runtime/tables.ts';
import type { SettingsTables } from '../settings/tables.ts';
import type { SiemTables } from '../siem/tables.ts';
import type { InventoryTables } from '../telemetry/tables.ts';

export type Database = AccessTables &
  AuditTables &
  ContainmentTables &
  DeliveryTables &
  DetectionTables &
  DigestTables &
  ExportTables &
  FleetTables &
  HuntingTables &
  LicenseTables &
  PolicyTables &
  RuntimeTables &
  SettingsTables &
  SiemTables &
  InventoryTables;
