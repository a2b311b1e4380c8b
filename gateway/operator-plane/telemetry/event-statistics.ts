// What a search shows beside its events: how many over time, the most frequent values of a field, and the fields that a
// condition can name. decision: D97
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import {
  type EventField,
  FIELD_NAMES,
  fieldNamed,
  fieldOf,
} from '../../../machines/detection/fields.ts';
import { type Refusal, refuse } from '../../../machines/errors.ts';
import {
  HISTOGRAM_BARS_DEFAULT,
  HISTOGRAM_BARS_MAX,
  TOP_VALUES_DEFAULT,
  TOP_VALUES_MAX,
} from '../../../machines/limits.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { refusals, Strict, Time } from '../plumbing/shapes.ts';
import { timeText } from '../plumbing/time-range.ts';
import { askEvents } from './ask-events.ts';
import { EventFilter, type EventQuestion, questionOf } from './event-query.ts';
import type { TelemetryRouteDeps } from './telemetry-deps.ts';

const SPAN_DEFAULT = { from: 'now-24h', to: 'now' };
const { order: _order, ...Filter } = EventFilter.properties;
const REFUSALS = refusals(401, 403, 422, 429, 503, 504);

export const Histogram = Type.Object({
  from: Time,
  to: Time,
  bucket_ms: Type.Integer(),
  events: Type.Integer(),
  items: Type.Array(
    Type.Object({
      at: Time,
      events: Type.Integer(),
      by_severity: Type.Record(Type.String(), Type.Integer()),
    }),
  ),
});
export const Top = Type.Object({
  field: Type.String(),
  events: Type.Integer({ description: 'Events that have the field' }),
  distinct: Type.Integer(),
  items: Type.Array(Type.Object({ value: Type.String(), events: Type.Integer() })),
});
export const HistogramQuery = Strict({
  ...Filter,
  bars: Type.Optional(
    Type.Integer({ minimum: 1, maximum: HISTOGRAM_BARS_MAX, default: HISTOGRAM_BARS_DEFAULT }),
  ),
});
export const TopQuery = Strict({
  ...Filter,
  field: Type.String({ maxLength: 64, description: 'One of /events/fields' }),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: TOP_VALUES_MAX, default: TOP_VALUES_DEFAULT }),
  ),
});
const Field = Type.Object({
  name: Type.String(),
  short_names: Type.Array(Type.String()),
  kind: Type.Enum(['text', 'integer', 'decimal', 'address', 'choice']),
  about: Type.String(),
  choices: Type.Array(Type.String()),
  is_list: Type.Boolean({ description: 'Holds several values' }),
});

type Deps = Pick<TelemetryRouteDeps, 'events' | 'cursors' | 'now' | 'searches'>;

/** All of them. */
export function eventStatisticsRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await histogramRoute(deps)(app, {});
    await topRoute(deps)(app, {});
    await fieldsRoute()(app, {});
  };
}

function histogramRoute(deps: Deps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/events/histogram', {
      config: { guard: { scope: 'events:read' } },
      schema: {
        operationId: 'countEventsOverTime',
        summary: 'How many events match, over time',
        tags: ['events'],
        querystring: HistogramQuery,
        response: { 200: Histogram, ...REFUSALS },
      },
      handler: async (request, reply) => {
        const { bars = HISTOGRAM_BARS_DEFAULT, ...filter } = request.query;
        const resolved = scopeOf(deps, filter);
        if (!resolved.ok) return sendRefusal(reply, resolved);
        const { fromMs, toMs } = resolved.question;
        const bucketMs = Math.max(1, Math.ceil((toMs - fromMs) / bars));
        const found = await askEvents(deps.searches, request, (signal) =>
          deps.events.histogram({ ...resolved.question, bucketMs, signal }),
        );
        return {
          from: timeText(fromMs),
          to: timeText(toMs),
          bucket_ms: bucketMs,
          events: found.reduce((sum, { events }) => sum + events, 0),
          items: found.map((bar) => ({
            ...{ at: timeText(bar.fromMs), events: bar.events, by_severity: bar.bySeverity },
          })),
        };
      },
    });
  };
}

function topRoute(deps: Deps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/events/top', {
      config: { guard: { scope: 'events:read' } },
      schema: {
        operationId: 'countEventValues',
        summary: 'The most frequent values of a field',
        tags: ['events'],
        querystring: TopQuery,
        response: { 200: Top, ...REFUSALS },
      },
      handler: async (request, reply) => {
        const { field: name, limit = TOP_VALUES_DEFAULT, ...filter } = request.query;
        const field = fieldNamed(name);
        if (field === undefined) return sendRefusal(reply, noField());
        const resolved = scopeOf(deps, filter);
        if (!resolved.ok) return sendRefusal(reply, resolved);
        const { values, ...counts } = await askEvents(deps.searches, request, (signal) =>
          deps.events.topValues({ ...resolved.question, field, limit, signal }),
        );
        return { field, ...counts, items: [...values] };
      },
    });
  };
}

function fieldsRoute(): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/events/fields', {
      config: { guard: { scope: 'events:read' } },
      schema: {
        operationId: 'listEventFields',
        summary: 'The fields that a condition can name',
        tags: ['events'],
        response: { 200: Type.Object({ items: Type.Array(Field) }), ...refusals(401, 403, 429) },
      },
      handler: async () => ({ items: FIELD_NAMES.map((name) => fieldView(name, fieldOf(name))) }),
    });
  };
}

/** The filter's question over a bounded time: the last day unless it says otherwise. */
function scopeOf(
  deps: Deps,
  filter: Omit<EventFilter, 'order'>,
): { readonly ok: true; readonly question: EventQuestion & Span } | Refusal {
  const resolved = questionOf({
    filter: { ...SPAN_DEFAULT, ...filter },
    ...{ cursor: undefined, cursors: deps.cursors, nowMs: deps.now() },
  });
  if (!resolved.ok) return resolved;
  const { fromMs = 0, toMs = fromMs } = resolved.question;
  return { ok: true, question: { ...resolved.question, fromMs, toMs } };
}
type Span = { readonly fromMs: number; readonly toMs: number };

function noField(): Refusal {
  return refuse('schema_violation', 'There is no such field; /events/fields lists them.', {
    errors: [{ pointer: '/query/field', detail: 'is no field of an event' }],
  });
}

function fieldView(name: string, field: EventField): Type.Static<typeof Field> {
  return {
    ...{ name, kind: field.kind, about: field.about },
    short_names: [...(field.short ?? [])],
    choices: [...(field.choices ?? [])],
    is_list: field.readAll !== undefined,
  };
}
