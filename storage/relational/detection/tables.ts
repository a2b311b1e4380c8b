// The tables of detection as the database holds them.
import type { ColumnType } from 'kysely';
import type { Alert, AlertKind, AlertSource } from '../../../machines/console/delivery/alert.ts';
import type { AlertStanding } from '../../../machines/console/detection/alert-standing.ts';
import type { RuleSpec } from '../../../machines/detection/rule-spec.ts';
import type { AlertNote } from '../../ports/detection/alert-store.ts';
import type { RulePause } from '../../ports/detection/rule-store.ts';
import type { Json } from '../plumbing/json-column.ts';

export type AlertsTable = {
  alert_id: string;
  rule_id: string;
  sensor_id: string;
  node_name: string;
  kind: AlertKind;
  source: AlertSource;
  severity: AlertStanding['severity'];
  headline: string;
  dedup_key: string;
  state: AlertStanding['state'];
  assignee: string | null;
  alert: Json<Alert>;
  standing: Json<Omit<AlertStanding, 'state'>>;
  match_group: Json<Readonly<Record<string, string>>>;
  reopens: string | null;
  created_at_ms: number;
  changed_at_ms: number;
  told_at_ms: number | null;
  revision: number;
};

export type AlertRulesTable = {
  rule_id: string;
  spec: Json<RuleSpec>;
  version: number;
  pause: ColumnType<RulePause | null, string | null, string | null>;
  active_since_ms: number;
  created_at_ms: number;
  changed_at_ms: number;
  changed_by: string;
};

export type DetectionTables = {
  alert_rules: AlertRulesTable;
  alert_rule_versions: {
    rule_id: string;
    version: number;
    spec: Json<RuleSpec>;
    at_ms: number;
    actor: string;
  };
  rule_cursors: { name: string; received_ms: number };
  alerts: AlertsTable;
  alert_matches: {
    rule_id: string;
    match_id: string;
    alert_id: string;
    is_event: boolean;
    at_ms: number;
  };
  alert_notes: {
    alert_id: string;
    sequence: number;
    at_ms: number;
    actor: string;
    what: AlertNote['what'];
    body: string;
  };
};
