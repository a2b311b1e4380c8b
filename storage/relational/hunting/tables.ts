// The table of hunting's documents.
import type { Json } from '../plumbing/json-column.ts';

export type DocumentKind =
  | 'saved_search'
  | 'investigation'
  | 'investigation_item'
  | 'exercise'
  | 'usual_mark';

export type HuntingDocumentsTable = {
  id: string;
  kind: DocumentKind;
  parent_id: string | null;
  body: Json<unknown>;
  created_at_ms: number;
  changed_at_ms: number;
  revision: number;
};

export type HuntingTables = { hunting_documents: HuntingDocumentsTable };
