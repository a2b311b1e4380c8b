// The table of settings as the database holds it.
import type { Generated } from 'kysely';
import type { Json } from '../plumbing/json-column.ts';

export type SettingsTable = {
  name: string;
  value: Json<unknown>;
  changed_at_ms: number;
  revision: Generated<number>;
  changed_by: Generated<string>;
};

export type SettingsTables = {
  settings: SettingsTable;
};
