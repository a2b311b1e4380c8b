// The table of designation as the database holds it.
import type { Generated } from 'kysely';

export type DesignationTable = {
  is_only: Generated<boolean>;
  epoch: number;
  holder: string;
  since_ms: number;
};

export type RuntimeTables = {
  designation: DesignationTable;
};
