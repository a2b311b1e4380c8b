// The tables of exports as the database holds them.
import type { ExportTable } from '../../../machines/console/exports/export-run.rules.ts';
import type { ExportStanding } from '../../../machines/console/exports/standing.ts';
import type { ExportTarget } from '../../../machines/console/exports/target.rules.ts';
import type { Json } from '../plumbing/json-column.ts';

export type ExportRunsTable = {
  day: string;
  table_name: ExportTable;
  state: ExportStanding['state'];
  due_at_ms: number;
  context: Json<Omit<ExportStanding, 'state' | 'dueAtMs'>>;
  lease_epoch: number | null;
  lease_until_ms: number | null;
};
export type ExportTables = {
  export_target: {
    is_only: boolean;
    target: Json<ExportTarget>;
    secret_sealed: string | null;
    changed_at_ms: number;
    revision: number;
  };
  export_horizon: { is_only: boolean; first_day: string };
  export_runs: ExportRunsTable;
  export_objects: {
    day: string;
    table_name: ExportTable;
    part: number;
    name: string;
    row_count: number;
    bytes: number;
    sha256: string;
  };
};
