// The tables as Kysely sees them; the truth is migrations/*.sql.

import type { Generated } from 'kysely';
import type { SystemFacts } from '../../../machines/wire/enrollment.ts';
import type { InventoryItem, InventorySectionName } from '../../../machines/wire/inventory.ts';
import type { Flavor } from '../../../machines/wire/scalars.ts';
import type { AuditFacts } from '../../ports/audit/audit-log.ts';
import type {
  CertificateStatus,
  SensorFacts,
  TokenKind,
} from '../../ports/fleet/sensor-registry.ts';
import type { AccessTables } from '../access/access-tables.ts';
import type { DeliveryTables } from '../delivery/delivery-tables.ts';
import type { Json } from './json-column.ts';

export type SensorsTable = {
  sensor_id: string;
  node_name: string;
  flavor: Flavor;
  declared_role: string | null;
  /** What the node told last, empty for none; null: it has told nothing since this column is here. */
  told_role: string | null;
  labels: Json<Readonly<Record<string, string>>>;
  system: Json<SystemFacts>;
  boot_id: string;
  sensor_version: string;
  flavor_mismatch: boolean;
  enrolled_at_ms: number;
  revoked_at_ms: number | null;
  revoked_reason: string | null;
  last_heartbeat_at_ms: number | null;
  facts: Json<SensorFacts> | null;
  containment_order_id: Generated<string | null>;
};

export type ContainmentOrdersTable = {
  order_id: string;
  sensor_id: string;
  wanted: 'contained' | 'released';
  reason: string;
  ordered_by: string;
  ordered_at_ms: number;
  until_ms: number | null;
};

export type CertificatesTable = {
  fingerprint: string;
  sensor_id: string;
  status: CertificateStatus;
  reference: string;
  serial: string;
  key_digest: string;
  pem: string;
  not_before_ms: number;
  not_after_ms: number;
  created_at_ms: number;
  superseded_at_ms: number | null;
};

export type TokensTable = {
  token_id: string;
  hash: Buffer;
  kind: TokenKind;
  sensor_id: string | null;
  note: string;
  created_at_ms: number;
  expires_at_ms: number;
  consumed_at_ms: number | null;
  consumed_key_digest: string | null;
  consumed_fingerprint: string | null;
  revoked_at_ms: number | null;
};

export type ApiKeysTable = {
  key_id: string;
  hash: Buffer;
  name: string;
  scopes: Json<readonly string[]>;
  created_at_ms: number;
  expires_at_ms: number | null;
  revoked_at_ms: number | null;
  user_id: string | null;
  last_used_at_ms: number | null;
};

export type InventoryTable = {
  sensor_id: string;
  section: InventorySectionName;
  hash: string;
  items: Json<readonly InventoryItem[]>;
  node_total: number | null;
  stored_at_ms: number;
};

export type AuditTable = {
  audit_id: Generated<number>;
  at_ms: number;
  actor: string;
  action: string;
  target: string;
  result: string;
  detail: Json<AuditFacts>;
  from_address: string | null;
  before: Json<AuditFacts> | null;
  after: Json<AuditFacts> | null;
  sequence: number | null;
  hash: string | null;
};

export type AuditCheckpointsTable = {
  sequence: number;
  hash: string;
  at_ms: number;
  public_key_pem: string;
  signature: string;
};

export type LicenseStateTable = {
  /** Always 1: there is one row. */
  id: number;
  revision: number;
  envelope: string | null;
  imported_at_ms: number | null;
  imported_by: string | null;
  seen_ms: number;
};

export type SettingsTable = {
  name: string;
  value: Json<unknown>;
  changed_at_ms: number;
  revision: Generated<number>;
  changed_by: Generated<string>;
};

export type DesignationTable = {
  is_only: Generated<boolean>;
  epoch: number;
  holder: string;
  since_ms: number;
};

type PolicyStateTable = { is_only: Generated<boolean>; revision: number };

type PolicyDocumentsTable = {
  kind: string;
  id: string;
  head: Json<unknown>;
  body: Json<unknown> | null;
  changed_at_ms: number;
};

type RolloutTransitionsTable = {
  rollout_id: string;
  sequence: number;
  at_ms: number;
  event: string;
  from_state: string | null;
  to_state: string;
  actor: string;
  tally: Json<unknown> | null;
  context: Json<unknown>;
};

export type Database = {
  sensors: SensorsTable;
  sensor_certificates: CertificatesTable;
  enrollment_tokens: TokensTable;
  api_keys: ApiKeysTable;
  inventory_sections: InventoryTable;
  audit_records: AuditTable;
  audit_checkpoints: AuditCheckpointsTable;
  license_state: LicenseStateTable;
  designation: DesignationTable;
  settings: SettingsTable;
  containment_orders: ContainmentOrdersTable;
  policy_state: PolicyStateTable;
  policy_documents: PolicyDocumentsTable;
  rollout_transitions: RolloutTransitionsTable;
} & AccessTables &
  DeliveryTables;
