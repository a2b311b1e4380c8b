// The tables of policies and rollouts as the database holds them.
import type { Generated } from 'kysely';
import type { Json } from '../plumbing/json-column.ts';

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

export type PolicyTables = {
  policy_state: PolicyStateTable;
  policy_documents: PolicyDocumentsTable;
  rollout_transitions: RolloutTransitionsTable;
};
