// The tables of digests as the database holds them.
import type { DigestPlan } from '../../../machines/console/digest/destination.rules.ts';
import type { DigestRun } from '../../ports/digest/digest-store.ts';
import type { Json } from '../plumbing/json-column.ts';

export type DigestsTable = {
  digest_id: string;
  name: string;
  plan: Json<Omit<DigestPlan, 'name'>>;
  secret_sealed: string | null;
  since_ms: number;
  created_at_ms: number;
  changed_at_ms: number;
  revision: number;
};
export type DigestRunsTable = {
  digest_id: string;
  day: string;
  state: DigestRun['state'];
  due_at_ms: number;
  context: Json<Omit<DigestRun, 'digestId' | 'day' | 'state' | 'dueAtMs'>>;
  lease_epoch: number | null;
  lease_until_ms: number | null;
};
export type DigestTables = { digests: DigestsTable; digest_runs: DigestRunsTable };
