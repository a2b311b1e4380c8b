// The tables of SIEM destinations as the database holds them.
import type { Generated } from 'kysely';
import type { SiemKindName } from '../../../machines/console/siem/kinds/kinds.ts';
import type { SiemStanding } from '../../../machines/console/siem/siem-standing.ts';
import type { SiemOptions } from '../../ports/siem/siem-store.ts';
import type { Json } from '../plumbing/json-column.ts';

export type SiemDestinationsTable = {
  destination_id: string;
  kind: SiemKindName;
  name: string;
  target_url: string;
  secret_sealed: string | null;
  has_token: boolean;
  filter: string;
  options: Json<SiemOptions>;
  standing: Json<SiemStanding>;
  created_at_ms: number;
  changed_at_ms: number;
  revision: number;
};
export type SiemTables = {
  siem_destinations: SiemDestinationsTable;
  sink_floors: { life: string; floor_ms: number; told_at_ms: number };
  sink_horizon: { is_only: Generated<boolean>; horizon_ms: number };
};
