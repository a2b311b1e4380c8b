// Investigations as they are asked for and told.
import Type from 'typebox';
import type { TimelineEntry } from '../../../actors/hunting/investigation-timeline.ts';
import type { InvestigationDocument } from '../../../actors/hunting/investigations.ts';
import { INVESTIGATION_OUTCOMES } from '../../../machines/console/hunting/investigation.machine.ts';
import {
  INVESTIGATION_EVENTS_PER_ADD_MAX,
  INVESTIGATION_NAME_MAX_CHARS,
  INVESTIGATION_TEXT_MAX_CHARS,
} from '../../../machines/limits.ts';
import { SEVERITIES, type StoredEvent } from '../../../machines/wire/event.ts';
import { Timestamp, Uuid } from '../../../machines/wire/scalars.ts';
import { Nullable, Strict, Time } from '../plumbing/shapes.ts';
import { timeText, timeTextOrNull } from '../plumbing/time-range.ts';
import { EventItem } from '../telemetry/events.ts';

const Name = Type.String({ minLength: 1, maxLength: INVESTIGATION_NAME_MAX_CHARS });
const Words = Type.String({ maxLength: INVESTIGATION_TEXT_MAX_CHARS });
const SeverityName = Type.Enum([...SEVERITIES]);
export const NewInvestigation = Strict({
  ...{ name: Name, summary: Type.Optional(Words), severity: Type.Optional(SeverityName) },
});
export const InvestigationChange = Strict({
  revision: Type.Integer({ minimum: 1 }),
  ...{ name: Type.Optional(Name), summary: Type.Optional(Words) },
  severity: Type.Optional(SeverityName),
});
export const Said = Strict({ text: Type.Optional(Words) });
export const HandOver = Strict({
  to: Type.String({ minLength: 3, maxLength: 320, description: 'e-mail of an account' }),
  text: Type.Optional(Words),
});
export const Closing = Strict({
  outcome: Type.Enum([...INVESTIGATION_OUTCOMES]),
  text: Type.Optional(Words),
});
const note = Type.Optional(Words);
export const NewItem = Type.Union([
  Strict({ what: Type.Literal('note'), note: Words, at: Type.Optional(Timestamp) }),
  Strict({ what: Type.Literal('alert'), alert_id: Uuid, note }),
  Strict({ what: Type.Literal('sensor'), sensor_id: Uuid, note }),
  Strict({
    what: Type.Literal('events'),
    events: Type.Array(
      Strict({
        event_id: Type.String({ pattern: '^[0-9a-f]{32}$' }),
        ...{ sensor_id: Uuid, observed_at: Timestamp },
      }),
      { minItems: 1, maxItems: INVESTIGATION_EVENTS_PER_ADD_MAX },
    ),
    note,
  }),
]);
export type NewItem = Type.Static<typeof NewItem>;

export const InvestigationView = Type.Object({
  investigation_id: Uuid,
  ...{ name: Type.String(), summary: Type.String(), severity: SeverityName },
  state: Type.String({ description: 'open, in_progress, handed_over or closed' }),
  assignee: Nullable(Type.String()),
  handed_over_by: Nullable(Type.String()),
  outcome: Nullable(Type.String()),
  closed_at: Nullable(Time),
  reopenings: Type.Integer(),
  created_by: Type.String(),
  created_at: Time,
  changed_at: Time,
  revision: Type.Integer(),
});
export const TimelineItem = Type.Object({
  at: Time,
  what: Type.String({ description: 'note, event, alert, sensor or move' }),
  item_id: Nullable(Uuid),
  by: Type.String(),
  text: Type.String(),
  event: Nullable(EventItem),
  is_gone: Type.Boolean({ description: 'The event is kept no more' }),
  event_id: Nullable(Type.String()),
  alert_id: Nullable(Uuid),
  sensor_id: Nullable(Uuid),
  headline: Nullable(Type.String()),
});
export type InvestigationView = Type.Static<typeof InvestigationView>;
export type TimelineItem = Type.Static<typeof TimelineItem>;

export function investigationView(row: InvestigationDocument): InvestigationView {
  const { name, summary, severity, createdBy, standing } = row.body;
  const { state, assignee, handedOverBy, outcome, closedAtMs, reopenings } = standing;
  return {
    ...{ investigation_id: row.id, name, summary, severity, state, assignee, outcome, reopenings },
    ...{ handed_over_by: handedOverBy, closed_at: timeTextOrNull(closedAtMs) },
    ...{ created_by: createdBy, created_at: timeText(row.createdAtMs) },
    ...{ changed_at: timeText(row.changedAtMs), revision: row.revision },
  };
}

export function timelineView(
  entry: TimelineEntry,
  events: ReadonlyMap<string, StoredEvent>,
): TimelineItem {
  const nothing = {
    ...{ item_id: entry.id, event: null, is_gone: false, event_id: null, alert_id: null },
    ...{ sensor_id: null, headline: null, at: timeText(entry.atMs) },
  };
  if (entry.is === 'move') {
    const { by, from, to, text } = entry.move;
    return { ...nothing, what: 'move', by, text, headline: `${from} to ${to}` };
  }
  const { item } = entry;
  const told = { ...nothing, what: item.what, by: item.addedBy, text: item.note };
  switch (item.what) {
    case 'note':
      return told;
    case 'alert':
      return { ...told, alert_id: item.alertId, headline: item.headline };
    case 'sensor':
      return { ...told, sensor_id: item.sensorId, headline: item.nodeName };
    case 'event': {
      const event = events.get(item.eventId) ?? null;
      const named = { event_id: item.eventId, sensor_id: item.sensorId };
      return { ...told, ...named, event, is_gone: event === null };
    }
  }
}
