// Alerts as they are told.
import Type from 'typebox';
import {
  ALERT_KINDS,
  ALERT_SEVERITIES,
  ALERT_SOURCES,
} from '../../../machines/console/delivery/alert.ts';
import {
  ALERT_RESOLUTIONS,
  ALERT_STATES,
} from '../../../machines/console/detection/alert.machine.ts';
import { ALERT_ASSIGNEE_MAX_CHARS, ALERT_COMMENT_MAX_CHARS } from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { AlertNote, AlertRow } from '../../../storage/ports/detection/alert-store.ts';
import { Nullable, Strict, Time } from '../plumbing/shapes.ts';
import { timeText, timeTextOrNull } from '../plumbing/time-range.ts';

export const StateName = Type.Enum([...ALERT_STATES]);
export const SeverityName = Type.Enum([...ALERT_SEVERITIES]);
export const KindName = Type.Enum([...ALERT_KINDS]);
export const SourceName = Type.Enum([...ALERT_SOURCES]);
export const Resolution = Type.Enum([...ALERT_RESOLUTIONS]);
export const Assignee = Nullable(
  Type.String({ minLength: 1, maxLength: ALERT_ASSIGNEE_MAX_CHARS }),
);
export const CommentText = Type.String({ minLength: 1, maxLength: ALERT_COMMENT_MAX_CHARS });
const Texts = Type.Record(Type.String(), Type.String());

export const Alert = Type.Object({
  alert_id: Uuid,
  alert_kind: Type.String(),
  source: Type.String(),
  state: StateName,
  severity: SeverityName,
  rule_id: Type.String({ description: 'of the rule or the search; otherwise the kind' }),
  sensor_id: Type.String({ description: 'the word fleet where it is of no single sensor' }),
  node_name: Type.String(),
  headline: Type.String(),
  detail: Type.String(),
  match_count: Type.Integer(),
  first_matched_at: Time,
  last_matched_at: Time,
  group: Texts,
  facts: Texts,
  tags: Type.Array(Type.String()),
  group_ids: Type.Array(Type.String()),
  event_ids: Type.Array(Type.String(), { description: 'the newest that matched' }),
  assignee: Nullable(Type.String()),
  acknowledged_at: Nullable(Time),
  acknowledged_by: Nullable(Type.String()),
  resolved_at: Nullable(Time),
  resolved_by: Nullable(Type.String()),
  resolution: Nullable(Type.String()),
  reopens: Nullable(Uuid),
  reopened_as: Nullable(Uuid),
  created_at: Time,
  changed_at: Time,
  revision: Type.Integer(),
});
export type Alert = Type.Static<typeof Alert>;

export const Note = Type.Object({
  sequence: Type.Integer(),
  at: Time,
  actor: Type.String(),
  what: Type.String({
    description: 'opened, acknowledged, assigned, resolved, reopened or commented',
  }),
  text: Type.String(),
});
export const AlertWithNotes = Type.Object({ alert: Alert, notes: Type.Array(Note) });
export type AlertWithNotes = Type.Static<typeof AlertWithNotes>;

export const AlertCounts = Type.Object({
  live: Type.Integer(),
  counts: Type.Array(
    Type.Object({ state: StateName, severity: SeverityName, count: Type.Integer() }),
  ),
});
export type AlertCounts = Type.Static<typeof AlertCounts>;

export const Bulk = Type.Union([
  Strict({ alert_ids: IdsOf(), act: Type.Literal('acknowledge') }),
  Strict({
    ...{ alert_ids: IdsOf(), act: Type.Literal('resolve'), resolution: Resolution },
    comment: Type.Optional(CommentText),
  }),
  Strict({ alert_ids: IdsOf(), act: Type.Literal('assign'), assignee: Assignee }),
]);
export type Bulk = Type.Static<typeof Bulk>;
export const BulkResult = Type.Object({
  results: Type.Array(
    Type.Object({
      alert_id: Uuid,
      result: Type.Enum(['ok', 'not_found', 'refused']),
      state: Nullable(StateName),
    }),
  ),
});
export type BulkResult = Type.Static<typeof BulkResult>;

function IdsOf() {
  return Type.Array(Uuid, { minItems: 1, maxItems: 200 });
}

export function alertView(row: AlertRow): Alert {
  const { alert } = row;
  return {
    alert_id: alert.alertId,
    alert_kind: alert.kind,
    source: alert.source,
    state: row.state,
    severity: row.severity,
    rule_id: alert.ruleId,
    sensor_id: alert.sensorId,
    node_name: alert.nodeName,
    headline: alert.headline,
    detail: alert.detail,
    match_count: row.count,
    first_matched_at: timeText(row.firstMatchedAtMs),
    last_matched_at: timeText(row.lastMatchedAtMs),
    group: { ...row.group },
    facts: { ...alert.texts } as Record<string, string>,
    tags: [...alert.tags],
    group_ids: [...alert.groupIds],
    event_ids: [...row.eventIds],
    assignee: row.assignee,
    acknowledged_at: timeTextOrNull(row.acknowledgedAtMs),
    acknowledged_by: row.acknowledgedBy,
    resolved_at: timeTextOrNull(row.resolvedAtMs),
    resolved_by: row.resolvedBy,
    resolution: row.resolution,
    reopens: row.reopens,
    reopened_as: row.reopenedAs,
    created_at: timeText(row.createdAtMs),
    changed_at: timeText(row.changedAtMs),
    revision: row.revision,
  };
}

export function noteView({
  sequence,
  atMs,
  actor,
  what,
  text,
}: AlertNote): Type.Static<typeof Note> {
  return { sequence, at: timeText(atMs), actor, what, text };
}
