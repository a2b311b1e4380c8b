// The tables of sensors, their certificates, tokens and labels as the database holds them.
import type { Generated } from 'kysely';
import type { SystemFacts } from '../../../machines/wire/enrollment.ts';
import type { Flavor } from '../../../machines/wire/scalars.ts';
import type {
  CertificateStatus,
  SensorFacts,
  TokenKind,
} from '../../ports/fleet/sensor-registry.ts';
import type { Json } from '../plumbing/json-column.ts';

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

export type FleetTables = {
  sensors: SensorsTable;
  sensor_certificates: CertificatesTable;
  enrollment_tokens: TokensTable;
  teams: {
    team_id: string;
    name: string;
    name_key: string;
    description: string;
    created_at_ms: number;
  };
  team_members: { team_id: string; user_id: string };
  team_sensors: { team_id: string; sensor_id: string };
  user_sensors: { user_id: string; sensor_id: string };
  sensor_groups: {
    group_id: string;
    name: string;
    name_key: string;
    description: string;
    created_at_ms: number;
  };
  sensor_group_members: { group_id: string; sensor_id: string };
  sensor_tags: { sensor_id: string; tag: string };
};
