// The filter of an event question, from query parameters to the event store's query. A relative time is made absolute
// once, on the first page, and travels in the cursor: pages of one question look at one range.
import Type from 'typebox';
import type { Condition } from '../../../machines/detection/condition.ts';
import { parseCondition } from '../../../machines/detection/condition-parser.ts';
import { type Refusal, refuse } from '../../../machines/errors.ts';
import { SEARCH_CONDITION_MAX_CHARS } from '../../../machines/limits.ts';
import { EVENT_KINDS, SEVERITIES, type StoredEvent } from '../../../machines/wire/event.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { EventQuery } from '../../../storage/ports/telemetry/event-store.ts';
import type { CursorPosition, CursorSigner } from '../plumbing/cursor.ts';
import { PageQuery, Strict } from '../plumbing/shapes.ts';
import { INSTANT_PATTERN, parseInstant } from '../plumbing/time-range.ts';

const Instant = Type.String({
  pattern: INSTANT_PATTERN,
  maxLength: 40,
  description: 'RFC 3339, or relative: now-1h',
});
const SharedFilter = {
  from: Type.Optional(Instant),
  to: Type.Optional(Instant),
  event_kind: Type.Optional(Type.Array(Type.Enum([...EVENT_KINDS]), { maxItems: 32 })),
  severity: Type.Optional(Type.Array(Type.Enum([...SEVERITIES]), { maxItems: 8 })),
  binary: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  text: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: SEARCH_CONDITION_MAX_CHARS,
      description: 'A condition: `binary:*curl and destination_port:443`',
    }),
  ),
  order: Type.Optional(Type.Enum(['ascending', 'descending'])),
};
export const EventFilter = Strict({ ...SharedFilter, sensor_id: Type.Optional(Uuid) });
export type EventFilter = Type.Static<typeof EventFilter>;
export const EventsQuery = Strict({ ...EventFilter.properties, ...PageQuery });
export const SensorEventsQuery = Strict({ ...SharedFilter, ...PageQuery });

export type EventQuestion = Omit<EventQuery, 'limit'>;

/** Resolves a filter and an optional cursor. */
export function questionOf(options: {
  readonly filter: EventFilter;
  readonly cursor: string | undefined;
  readonly cursors: CursorSigner;
  readonly nowMs: number;
}): { readonly ok: true; readonly question: EventQuestion } | Refusal {
  const { filter, cursor, cursors, nowMs } = options;
  const condition = conditionIn(filter.q, '/query/q');
  if (!condition.ok) return condition;
  const position = cursor === undefined ? null : cursors.open('events', filter, cursor);
  if (position?.ok === false) return position;
  const range = position === null ? rangeOf(filter, nowMs) : positionRange(position.position);
  if ('ok' in range) return range;
  return {
    ok: true,
    question: {
      ...range,
      ...(filter.sensor_id === undefined ? {} : { sensorId: filter.sensor_id }),
      ...(filter.event_kind === undefined ? {} : { eventKinds: filter.event_kind }),
      ...(filter.severity === undefined ? {} : { severities: filter.severity }),
      ...(filter.binary === undefined ? {} : { binaryContains: filter.binary }),
      ...(filter.text === undefined ? {} : { text: filter.text }),
      ...(condition.condition === undefined ? {} : { condition: condition.condition }),
      order: filter.order ?? 'descending',
      after: position === null ? null : keyOf(position.position),
    },
  };
}

/** Reads an optional condition; a refusal says where it cannot be read. */
export function conditionIn(
  text: string | undefined,
  pointer: string,
): { readonly ok: true; readonly condition?: Condition } | Refusal {
  if (text === undefined) return { ok: true };
  const read = parseCondition(text);
  if (read.ok) return read;
  return refuse('schema_violation', 'The condition cannot be read.', {
    errors: [{ pointer, detail: `at character ${read.at + 1}: ${read.detail}` }],
  });
}

/** The cursor after an event of this question. */
export function cursorAfter(
  cursors: CursorSigner,
  filter: EventFilter,
  question: EventQuestion,
  last: StoredEvent,
): string {
  return cursors.seal('events', filter, {
    f: question.fromMs ?? null,
    t: question.toMs ?? null,
    a: last.observed_at,
    e: last.event_id,
  });
}

/** Where the next page starts. */
export function keyAfter(last: StoredEvent) {
  return { observedAt: last.observed_at, eventId: last.event_id };
}

type Range = { readonly fromMs?: number; readonly toMs?: number };

function rangeOf(filter: EventFilter, nowMs: number): Range | Refusal {
  const range: { fromMs?: number; toMs?: number } = {};
  const errors: { pointer: string; detail: string }[] = [];
  for (const name of ['from', 'to'] as const) {
    const text = filter[name];
    if (text === undefined) continue;
    const ms = parseInstant(text, nowMs);
    if (ms === null) errors.push({ pointer: `/query/${name}`, detail: 'there is no such instant' });
    else if (name === 'from') range.fromMs = ms;
    else range.toMs = ms;
  }
  if (range.fromMs !== undefined && range.toMs !== undefined && range.fromMs > range.toMs) {
    errors.push({ pointer: '/query/from', detail: 'lies after `to`' });
  }
  return errors.length === 0
    ? range
    : refuse('schema_violation', 'The time range cannot be used.', { errors });
}

/** A range that has both ends: the last day unless it says otherwise. */
export function spanOf(
  filter: Pick<EventFilter, 'from' | 'to'>,
  nowMs: number,
): { readonly fromMs: number; readonly toMs: number } | Refusal {
  const range = rangeOf({ ...SPAN_DEFAULT, ...filter }, nowMs);
  if ('ok' in range) return range;
  const { fromMs = 0, toMs = fromMs } = range;
  return { fromMs, toMs };
}
const SPAN_DEFAULT = { from: 'now-24h', to: 'now' };

// A cursor is signed, so what it holds is what `cursorAfter` put there.
function positionRange(position: CursorPosition): Range {
  return {
    ...(typeof position['f'] === 'number' ? { fromMs: position['f'] } : {}),
    ...(typeof position['t'] === 'number' ? { toMs: position['t'] } : {}),
  };
}

function keyOf(position: CursorPosition) {
  return { observedAt: String(position['a']), eventId: String(position['e']) };
}
