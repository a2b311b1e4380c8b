// The resource `alerts`: the inbox, one alert with what happened to it, and the events that it counted. invariant: I18
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { refuse } from '../../../machines/errors.ts';
import { PAGE_ITEMS_DEFAULT } from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { AlertMatch, AlertStore } from '../../../storage/ports/detection/alert-store.ts';
import type { EventStore } from '../../../storage/ports/telemetry/event-store.ts';
import type { CursorSigner } from '../plumbing/cursor.ts';
import { pageOf } from '../plumbing/pages.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { PageOf, PageQuery, refusals, Strict } from '../plumbing/shapes.ts';
import { INSTANT_PATTERN, parseInstant } from '../plumbing/time-range.ts';
import { askEvents } from '../telemetry/ask-events.ts';
import { EventItem } from '../telemetry/events.ts';
import type { SearchTurns } from '../telemetry/search-turns.ts';
import {
  Alert,
  AlertCounts,
  AlertWithNotes,
  alertView,
  KindName,
  noteView,
  SeverityName,
  SourceName,
  StateName,
} from './alert-shapes.ts';

export const AlertPath = Strict({ id: Uuid });
export const NO_ALERT = refuse('not_found', 'There is no such alert.');
const LIST = 'alerts';
const EVENTS = 'alert-events';
const Instant = Type.String({ pattern: INSTANT_PATTERN, maxLength: 40 });
export const AlertListQuery = Strict({
  ...PageQuery,
  state: Type.Optional(Type.Array(StateName, { maxItems: 4 })),
  severity: Type.Optional(Type.Array(SeverityName, { maxItems: 8 })),
  alert_kind: Type.Optional(Type.Array(KindName, { maxItems: 32 })),
  source: Type.Optional(Type.Array(SourceName, { maxItems: 16 })),
  sensor_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  rule_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  assignee: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  text: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  from: Type.Optional(Instant),
  to: Type.Optional(Instant),
});
type ListQuery = Type.Static<typeof AlertListQuery>;

export type AlertRouteDeps = {
  readonly store: AlertStore;
  readonly events: Pick<EventStore, 'search'>;
  readonly searches: SearchTurns;
  readonly cursors: CursorSigner;
  readonly now: () => number;
};

/** The routes that read. */
export function alertRoutes(deps: AlertRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await listRoutes(deps)(app, {});
    await oneRoutes(deps)(app, {});
  };
}

function listRoutes({ store, cursors, now }: AlertRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/alerts', {
      config: { guard: { scope: 'alerts:read' } },
      schema: {
        operationId: 'listAlerts',
        summary: 'Alerts, newest first',
        tags: ['alerts'],
        querystring: AlertListQuery,
        response: { 200: PageOf(Alert), ...refusals(400, 401, 403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { limit = PAGE_ITEMS_DEFAULT, cursor, ...filter } = request.query;
        const opened = cursor === undefined ? null : cursors.open(LIST, filter, cursor);
        if (opened !== null && !opened.ok) return sendRefusal(reply, opened);
        const before = opened === null ? null : String(opened.position['id']);
        const rows = await store.list({ ...filterOf(filter, now()), limit: limit + 1, before });
        const items = rows.slice(0, limit).map(alertView);
        const last = items.at(-1);
        const next =
          rows.length > limit && last !== undefined
            ? cursors.seal(LIST, filter, { id: last.alert_id })
            : null;
        return pageOf(reply, items, next);
      },
    });

    app.get('/alerts/counts', {
      config: { guard: { scope: 'alerts:read' } },
      schema: {
        operationId: 'countAlerts',
        summary: 'How many alerts are open or acknowledged',
        tags: ['alerts'],
        response: { 200: AlertCounts, ...refusals(401, 403, 429, 503) },
      },
      handler: async () => {
        const counts = await store.counts();
        const live = counts.reduce((sum, { count }) => sum + count, 0);
        return { live, counts: counts.map((one) => ({ ...one })) };
      },
    });
  };
}

function filterOf(filter: Omit<ListQuery, 'limit' | 'cursor'>, nowMs: number) {
  const timeOf = (text: string | undefined): number | undefined =>
    text === undefined ? undefined : (parseInstant(text, nowMs) ?? undefined);
  return {
    ...{ states: filter.state, severities: filter.severity, kinds: filter.alert_kind },
    ...{ sources: filter.source, sensorId: filter.sensor_id, ruleId: filter.rule_id },
    ...{ assignee: filter.assignee, text: filter.text },
    ...{ fromMs: timeOf(filter.from), toMs: timeOf(filter.to) },
  };
}

function oneRoutes(deps: AlertRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/alerts/:id', {
      config: { guard: { scope: 'alerts:read' } },
      schema: {
        operationId: 'getAlert',
        summary: 'One alert with what happened to it',
        tags: ['alerts'],
        params: AlertPath,
        response: { 200: AlertWithNotes, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const found = await deps.store.get(request.params.id);
        if (found === null) return sendRefusal(reply, NO_ALERT);
        return { alert: alertView(found.row), notes: found.notes.map(noteView) };
      },
    });

    app.get('/alerts/:id/events', {
      config: { guard: { scope: 'events:read' } },
      schema: {
        operationId: 'listEventsOfAlert',
        summary: 'The events that an alert counted, newest first',
        description: 'Events whose retention is over are left out.',
        tags: ['alerts'],
        params: AlertPath,
        querystring: Strict(PageQuery),
        response: { 200: PageOf(EventItem), ...refusals(400, 401, 403, 404, 422, 429, 503, 504) },
      },
      handler: async (request, reply) => {
        const { limit = PAGE_ITEMS_DEFAULT, cursor } = request.query;
        const { id: alertId } = request.params;
        const opened = cursor === undefined ? null : deps.cursors.open(EVENTS, { alertId }, cursor);
        if (opened !== null && !opened.ok) return sendRefusal(reply, opened);
        const before = opened === null ? null : matchAt(opened.position);
        const found = await deps.store.events({ alertId, limit: limit + 1, before });
        const page = found.slice(0, limit);
        const items = await askEvents(deps.searches, request, (signal) =>
          eventsOf(deps, page, signal),
        );
        const last = page.at(-1);
        const next =
          found.length > limit && last !== undefined
            ? deps.cursors.seal(EVENTS, { alertId }, { id: last.matchId, at: String(last.atMs) })
            : null;
        return pageOf(reply, items, next);
      },
    });
  };
}

function matchAt(position: Readonly<Record<string, unknown>>): AlertMatch {
  return { matchId: String(position['id']), atMs: Number(position['at']) };
}

function eventsOf(deps: AlertRouteDeps, page: readonly AlertMatch[], signal: AbortSignal) {
  if (page.length === 0) return Promise.resolve([]);
  const times = page.map(({ atMs }) => atMs);
  return deps.events.search({
    ...{ fromMs: Math.min(...times), toMs: Math.max(...times) + 1, limit: page.length, signal },
    condition: { is: 'among', field: 'event_id', values: page.map(({ matchId }) => matchId) },
  });
}
