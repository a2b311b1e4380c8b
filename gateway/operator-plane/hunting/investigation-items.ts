// What is collected in an investigation, its timeline, and its archive. decision: D143
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { CheckpointSigner } from '../../../actors/audit/audit-sealer.ts';
import { archiveOf } from '../../../actors/hunting/investigation-archive.ts';
import { eventsIn, timelineOf } from '../../../actors/hunting/investigation-timeline.ts';
import { NO_INVESTIGATION } from '../../../actors/hunting/investigations.ts';
import type { InvestigationItem } from '../../../machines/console/hunting/investigation.ts';
import { type Refusal, refuse } from '../../../machines/errors.ts';
import { PAGE_ITEMS_DEFAULT } from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { AuditLog } from '../../../storage/ports/audit/audit-log.ts';
import type { AlertStore } from '../../../storage/ports/detection/alert-store.ts';
import type { SensorRegistry } from '../../../storage/ports/fleet/sensor-registry.ts';
import { hasScope } from '../../access/operator.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { pageOf } from '../plumbing/pages.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { PageOf, PageQuery, refusals, Strict } from '../plumbing/shapes.ts';
import { askEvents } from '../telemetry/ask-events.ts';
import type { TelemetryRouteDeps } from '../telemetry/telemetry-deps.ts';
import { NewItem, TimelineItem, timelineView } from './investigation-shapes.ts';
import {
  InvestigationPath,
  type InvestigationRouteDeps,
  investigationContext,
} from './investigations.ts';

const ItemPath = Strict({ id: Uuid, item_id: Uuid });
const TIMELINE = 'investigation-timeline';

export type InvestigationItemDeps = InvestigationRouteDeps &
  Pick<TelemetryRouteDeps, 'events' | 'searches'> & {
    readonly alerts: Pick<AlertStore, 'get'>;
    readonly sensors: Pick<SensorRegistry, 'getSensor'>;
    readonly audit: Pick<AuditLog, 'append'>;
    readonly signer: CheckpointSigner;
  };

/** The routes. */
export function investigationItemRoutes(deps: InvestigationItemDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await timelineRoute(deps)(app, {});
    await itemRoutes(deps)(app, {});
    await archiveRoute(deps)(app, {});
  };
}

function timelineRoute(deps: InvestigationItemDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/investigations/:id/timeline', {
      config: { guard: { scope: 'investigations:read' } },
      schema: {
        operationId: 'getInvestigationTimeline',
        summary: 'Everything that was collected, and every move, oldest first',
        tags: ['investigations'],
        params: InvestigationPath,
        querystring: Strict(PageQuery),
        response: {
          200: PageOf(TimelineItem),
          ...refusals(400, 401, 403, 404, 422, 429, 503, 504),
        },
      },
      handler: async (request, reply) => {
        const { limit = PAGE_ITEMS_DEFAULT, cursor } = request.query;
        const { id } = request.params;
        const opened = cursor === undefined ? null : deps.cursors.open(TIMELINE, { id }, cursor);
        if (opened !== null && !opened.ok) return sendRefusal(reply, opened);
        const from = opened === null ? 0 : Number(opened.position['at']);
        const row = await deps.investigations.get(id);
        if (row === null) return sendRefusal(reply, NO_INVESTIGATION);
        if (!hasScope(operatorOf(request), 'events:read'))
          return sendRefusal(reply, NO_EVENTS_SCOPE);
        const all = timelineOf(row, await deps.investigations.itemsOf(id));
        const entries = all.slice(from, from + limit);
        const events = await askEvents(deps.searches, request, (signal) =>
          eventsIn(deps.events, entries, signal),
        );
        const at = from + entries.length;
        const next = at < all.length ? deps.cursors.seal(TIMELINE, { id }, { at }) : null;
        return pageOf(
          reply,
          entries.map((entry) => timelineView(entry, events)),
          next,
        );
      },
    });
  };
}

function itemRoutes(deps: InvestigationItemDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/investigations/:id/items', {
      config: { guard: { scope: 'investigations:write' } },
      schema: {
        operationId: 'addToInvestigation',
        summary: 'Collect a note, an alert, a sensor or events',
        tags: ['investigations'],
        params: InvestigationPath,
        body: NewItem,
        response: {
          200: Type.Object({ added: Type.Integer() }),
          ...refusals(401, 403, 404, 409, 422, 429, 503, 504),
        },
      },
      handler: async (request, reply) => {
        const context = investigationContext(deps, request);
        const found = await itemsIn(deps, request.body, { context, request });
        if ('ok' in found) return sendRefusal(reply, found);
        const { id } = request.params;
        const done = await deps.investigations.add({ ...context, id, items: found });
        return done.ok ? { added: done.added } : sendRefusal(reply, done);
      },
    });

    app.delete('/investigations/:id/items/:item_id', {
      config: { guard: { scope: 'investigations:write' } },
      schema: {
        operationId: 'takeOutOfInvestigation',
        summary: 'Take something out again',
        tags: ['investigations'],
        params: ItemPath,
        response: { 204: Type.Null(), ...refusals(401, 403, 404, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { id, item_id: itemId } = request.params;
        const context = investigationContext(deps, request);
        const done = await deps.investigations.takeOut({ ...context, id, itemId });
        return done.ok ? reply.code(204).send(null) : sendRefusal(reply, done);
      },
    });
  };
}

function archiveRoute(deps: InvestigationItemDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/investigations/:id/archive', {
      config: { guard: { scope: 'investigations:read' } },
      schema: {
        operationId: 'exportInvestigation',
        summary: 'The investigation as one signed archive (tar.gz)',
        description: 'It opens and verifies without the Console; its readme.txt says how.',
        tags: ['investigations'],
        params: InvestigationPath,
        response: {
          200: {
            description: 'A compressed tar.',
            content: { 'application/gzip': { schema: Type.String({ format: 'binary' }) } },
          },
          ...refusals(401, 403, 404, 422, 429, 503, 504),
        },
      },
      handler: async (request, reply) => {
        const { id } = request.params;
        const investigation = await deps.investigations.get(id);
        if (investigation === null) return sendRefusal(reply, NO_INVESTIGATION);
        if (!hasScope(operatorOf(request), 'events:read'))
          return sendRefusal(reply, NO_EVENTS_SCOPE);
        const entries = timelineOf(investigation, await deps.investigations.itemsOf(id));
        const events = await askEvents(deps.searches, request, (signal) =>
          eventsIn(deps.events, entries, signal),
        );
        const { actor, from, nowMs: atMs } = investigationContext(deps, request);
        const content = { investigation, entries, events, by: actor, atMs };
        const archive = await archiveOf(content, deps.signer);
        if (archive === null) return sendRefusal(reply, TOO_LARGE);
        const detail = { entries: entries.length, events: events.size };
        await deps.audit.append([
          {
            ...{ atMs, actor, from, target: id, result: 'ok', detail },
            action: 'investigation.export',
          },
        ]);
        sendFile(reply, `investigation-${id}.tar.gz`, archive);
        return reply;
      },
    });
  };
}

function sendFile(reply: FastifyReply, name: string, content: Uint8Array): void {
  reply.header('content-type', 'application/gzip');
  reply.header('content-disposition', `attachment; filename="${name}"`);
  reply.send(Buffer.from(content));
}

/** Its events are shown whole. */
const NO_EVENTS_SCOPE = refuse('role_required', 'This needs the scope events:read, too.');
const NO_ALERT = refuse('not_found', 'There is no such alert.');
const NO_SENSOR = refuse('not_found', 'There is no such sensor.');
const NO_EVENTS = refuse('not_found', 'None of these events is kept.');
const TOO_LARGE = refuse('search_too_large', 'The archive would be larger than one may be.');

/** What is to be collected, as it is now; nothing is taken on somebody's word. */
async function itemsIn(
  deps: InvestigationItemDeps,
  asked: NewItem,
  of: {
    readonly context: ReturnType<typeof investigationContext>;
    readonly request: FastifyRequest;
  },
): Promise<readonly InvestigationItem[] | Refusal> {
  const { nowMs, actor } = of.context;
  const by = { addedBy: actor, addedAtMs: nowMs, note: asked.note ?? '' };
  switch (asked.what) {
    case 'note': {
      const atMs = asked.at === undefined ? nowMs : Date.parse(asked.at);
      return [{ ...by, what: 'note', atMs: Number.isFinite(atMs) ? atMs : nowMs }];
    }
    case 'alert': {
      const found = await deps.alerts.get(asked.alert_id);
      if (found === null) return NO_ALERT;
      const { alertId, headline, occurredAtMs: atMs } = found.row.alert;
      return [{ ...by, what: 'alert', atMs, alertId, headline }];
    }
    case 'sensor': {
      const row = await deps.sensors.getSensor(asked.sensor_id);
      if (row === null) return NO_SENSOR;
      const { sensorId, nodeName } = row;
      return [{ ...by, what: 'sensor', atMs: nowMs, sensorId, nodeName }];
    }
    case 'events': {
      const named = asked.events.map(({ event_id: eventId, sensor_id: sensorId, observed_at }) => ({
        ...({ is: 'item', id: '', atMs: Date.parse(observed_at) } as const),
        item: { ...by, what: 'event', atMs: Date.parse(observed_at), eventId, sensorId } as const,
      }));
      const there = await askEvents(deps.searches, of.request, (signal) =>
        eventsIn(deps.events, named, signal),
      );
      const items = named.flatMap(({ item }) => (there.has(item.eventId) ? [item] : []));
      return items.length === 0 ? NO_EVENTS : items;
    }
  }
}
