// The tables of the audit log as the database holds them.
import type { Generated } from 'kysely';
import type { AuditFacts } from '../../ports/audit/audit-log.ts';
import type { Json } from '../plumbing/json-column.ts';

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

export type AuditTables = {
  audit_records: AuditTable;
  audit_checkpoints: AuditCheckpointsTable;
};
