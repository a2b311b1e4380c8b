// Saved searches as they are asked for and told.
import Type from 'typebox';
import type { SearchDocument } from '../../../actors/hunting/saved-searches.ts';
import { AlertSeverityName } from '../../../machines/console/delivery/alert.ts';
import type { SavedSearch } from '../../../machines/console/hunting/saved-search.ts';
import {
  SAVED_SEARCH_NAME_MAX_CHARS,
  SAVED_SEARCH_THRESHOLD_MAX,
  SAVED_SEARCH_WINDOW_MAX_MS,
  SAVED_SEARCH_WINDOW_MIN_MS,
} from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import { Nullable, Strict, Time } from '../plumbing/shapes.ts';
import { timeText, timeTextOrNull } from '../plumbing/time-range.ts';
import { EventFilter } from '../telemetry/event-query.ts';

const { q, text, binary, event_kind, severity, sensor_id } = EventFilter.properties;
const Filter = Strict({ q, text, binary, event_kind, severity, sensor_id });
const Watch = {
  threshold: Type.Integer({
    ...{ minimum: 1, maximum: SAVED_SEARCH_THRESHOLD_MAX },
    description: 'told when so many events match',
  }),
  window_secs: Type.Integer({
    minimum: SAVED_SEARCH_WINDOW_MIN_MS / 1_000,
    maximum: SAVED_SEARCH_WINDOW_MAX_MS / 1_000,
    description: 'within so many seconds',
  }),
};
const Name = Type.String({ minLength: 1, maxLength: SAVED_SEARCH_NAME_MAX_CHARS });
export const NewSearch = Strict({
  search_name: Name,
  filter: Filter,
  threshold: Type.Optional(Nullable(Watch.threshold)),
  window_secs: Type.Optional(Watch.window_secs),
  severity: Type.Optional(AlertSeverityName),
});
export const SearchChange = Strict({
  ...{ revision: Type.Integer({ minimum: 1 }), search_name: Type.Optional(Name) },
  filter: Type.Optional(Filter),
  threshold: Type.Optional(Nullable(Watch.threshold)),
  window_secs: Type.Optional(Watch.window_secs),
  severity: Type.Optional(AlertSeverityName),
});
export const SavedSearchView = Type.Object({
  search_id: Uuid,
  search_name: Type.String(),
  filter: Filter,
  threshold: Nullable(Type.Integer({ description: 'null: it is only asked by hand' })),
  window_secs: Nullable(Type.Integer()),
  severity: Type.String({ description: 'of its alerts' }),
  state: Type.String({
    description: 'below, above, paused, halted; not_watched without a threshold',
  }),
  match_count: Type.Integer({ description: 'in its window, when it was counted last' }),
  counted_to: Nullable(Time),
  crossings: Type.Integer(),
  last_crossed_at: Nullable(Time),
  last_alert_id: Nullable(Uuid),
  trouble: Nullable(Type.String({ description: 'why its question was refused' })),
  created_by: Type.String(),
  created_at: Time,
  changed_at: Time,
  revision: Type.Integer(),
});
export type NewSearch = Type.Static<typeof NewSearch>;
export type SearchChange = Type.Static<typeof SearchChange>;
export type SavedSearchView = Type.Static<typeof SavedSearchView>;

const WINDOW_DEFAULT_SECS = 300;

/** What is to be watched after a change, on top of what was. */
export function watchIn(
  given: Pick<SearchChange, 'threshold' | 'window_secs' | 'severity'>,
  before: SavedSearch['watch'],
): SavedSearch['watch'] {
  const threshold = given.threshold === undefined ? before?.threshold : given.threshold;
  if (threshold === undefined || threshold === null) return null;
  return {
    threshold,
    windowSecs: given.window_secs ?? before?.windowSecs ?? WINDOW_DEFAULT_SECS,
    severity: given.severity ?? before?.severity ?? 'medium',
  };
}

export function savedSearchView(row: SearchDocument): SavedSearchView {
  const { name, filter, watch, createdBy, version, standing } = row.body;
  const { state, readToMs, matches, crossings, crossedAtMs, alertId, trouble } = standing;
  return {
    ...{ search_id: row.id, search_name: name, filter: filterView(filter) },
    ...{ threshold: watch?.threshold ?? null, window_secs: watch?.windowSecs ?? null },
    severity: watch?.severity ?? 'medium',
    state: watch === null ? 'not_watched' : state === 'telling' ? 'above' : state,
    ...{ match_count: matches, counted_to: timeTextOrNull(readToMs), crossings },
    ...{ last_crossed_at: timeTextOrNull(crossedAtMs), last_alert_id: alertId, trouble },
    ...{ created_by: createdBy, created_at: timeText(row.createdAtMs) },
    ...{ changed_at: timeText(row.changedAtMs), revision: version },
  };
}

function filterView({ event_kind, severity, ...texts }: SavedSearch['filter']) {
  return {
    ...texts,
    ...(event_kind === undefined ? {} : { event_kind: [...event_kind] }),
    ...(severity === undefined ? {} : { severity: [...severity] }),
  };
}
