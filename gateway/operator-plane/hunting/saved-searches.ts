// The resource `saved-searches`: searches with a name, and, with a threshold, what is told when it is crossed.
// decision: D142
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { NO_SEARCH, type SavedSearches } from '../../../actors/hunting/saved-searches.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { PageQuery, refusals, Strict } from '../plumbing/shapes.ts';
import { answerEvents } from '../telemetry/event-answer.ts';
import { EventFilter } from '../telemetry/event-query.ts';
import { eventContent } from '../telemetry/events.ts';
import type { TelemetryRouteDeps } from '../telemetry/telemetry-deps.ts';
import {
  NewSearch,
  SavedSearchView,
  SearchChange,
  savedSearchView,
  watchIn,
} from './search-shapes.ts';

const Path = Strict({ id: Uuid });
const { from, to, order } = EventFilter.properties;
const RunQuery = Strict({ from, to, order, ...PageQuery });
const List = Type.Object({ items: Type.Array(SavedSearchView) });
const CHANGED = { 200: SavedSearchView, ...refusals(401, 403, 404, 409, 422, 429, 503) };

export type SavedSearchRouteDeps = {
  readonly searches: SavedSearches;
  readonly asked: Pick<TelemetryRouteDeps, 'events' | 'cursors' | 'now' | 'searches'>;
  readonly now: () => number;
};

/** The routes; `searches:read` sees and runs, `searches:write` changes. */
export function savedSearchRoutes(deps: SavedSearchRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await readRoutes(deps)(app, {});
    await changeRoutes(deps)(app, {});
    await pauseRoutes(deps)(app, {});
  };
}

function readRoutes(deps: SavedSearchRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/saved-searches', {
      config: { guard: { scope: 'searches:read' } },
      schema: {
        operationId: 'listSavedSearches',
        summary: 'Every saved search, and how it stands',
        tags: ['saved-searches'],
        response: { 200: List, ...refusals(401, 403, 429, 503) },
      },
      handler: async () => ({ items: (await deps.searches.list()).map(savedSearchView) }),
    });

    app.get('/saved-searches/:id', {
      config: { guard: { scope: 'searches:read' } },
      schema: {
        operationId: 'getSavedSearch',
        summary: 'One saved search',
        tags: ['saved-searches'],
        params: Path,
        response: { 200: SavedSearchView, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const row = await deps.searches.get(request.params.id);
        return row === null ? sendRefusal(reply, NO_SEARCH) : savedSearchView(row);
      },
    });

    app.get('/saved-searches/:id/events', {
      config: { guard: { scope: 'events:read' } },
      schema: {
        operationId: 'runSavedSearch',
        summary: 'The events of a saved search now',
        description: 'With `Accept: text/csv` or `application/x-ndjson` all of them are streamed.',
        tags: ['saved-searches', 'events'],
        params: Path,
        querystring: RunQuery,
        response: { 200: eventContent, ...refusals(401, 403, 404, 422, 429, 503, 504) },
      },
      handler: async (request, reply) => {
        const row = await deps.searches.get(request.params.id);
        if (row === null) return sendRefusal(reply, NO_SEARCH);
        const { filter } = savedSearchView(row);
        await answerEvents(deps.asked, { ...filter, ...request.query }, request, reply);
        return reply;
      },
    });
  };
}

function changeRoutes(deps: SavedSearchRouteDeps): FastifyPluginAsyncTypebox {
  const { searches } = deps;
  return async (app) => {
    app.post('/saved-searches', {
      config: { guard: { scope: 'searches:write' } },
      schema: {
        operationId: 'createSavedSearch',
        summary: 'Save a search',
        tags: ['saved-searches'],
        body: NewSearch,
        response: { 201: SavedSearchView, ...refusals(401, 403, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { search_name: name, filter, ...watched } = request.body;
        const content = { name, filter, watch: watchIn(watched, null) };
        const made = await searches.create({ ...contextOf(deps, request), content });
        if (!made.ok) return sendRefusal(reply, made);
        reply.code(201);
        return savedSearchView(made.search);
      },
    });

    app.patch('/saved-searches/:id', {
      config: { guard: { scope: 'searches:write' } },
      schema: {
        operationId: 'changeSavedSearch',
        summary: 'Change a saved search; another question begins to count anew',
        tags: ['saved-searches'],
        params: Path,
        body: SearchChange,
        response: CHANGED,
      },
      handler: async (request, reply) => {
        const { revision, search_name: name, filter, ...watched } = request.body;
        const { id } = request.params;
        const before = await searches.get(id);
        if (before === null) return sendRefusal(reply, NO_SEARCH);
        const content = {
          ...(name === undefined ? {} : { name }),
          ...(filter === undefined ? {} : { filter }),
          watch: watchIn(watched, before.body.watch),
        };
        const asked = { ...contextOf(deps, request), id, revision, content };
        const changed = await searches.change(asked);
        return changed.ok ? savedSearchView(changed.search) : sendRefusal(reply, changed);
      },
    });

    app.delete('/saved-searches/:id', {
      config: { guard: { scope: 'searches:write' } },
      schema: {
        operationId: 'removeSavedSearch',
        summary: 'Remove a saved search',
        tags: ['saved-searches'],
        params: Path,
        response: { 204: Type.Null(), ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { id } = request.params;
        const isGone = await searches.remove({ ...contextOf(deps, request), id });
        return isGone ? reply.code(204).send(null) : sendRefusal(reply, NO_SEARCH);
      },
    });
  };
}

function pauseRoutes(deps: SavedSearchRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    for (const [act, isPaused, operationId, summary] of [
      ['pause', true, 'pauseSavedSearch', 'Count nothing and tell nothing'],
      ['resume', false, 'resumeSavedSearch', 'Count again, beginning anew'],
    ] as const) {
      app.post(`/saved-searches/:id/${act}`, {
        config: { guard: { scope: 'searches:write' } },
        schema: {
          operationId,
          summary,
          tags: ['saved-searches'],
          params: Path,
          response: CHANGED,
        },
        handler: async (request, reply) => {
          const { id } = request.params;
          const asked = { ...contextOf(deps, request), id, isPaused };
          const changed = await deps.searches.pause(asked);
          return changed.ok ? savedSearchView(changed.search) : sendRefusal(reply, changed);
        },
      });
    }
  };
}

function contextOf({ now }: SavedSearchRouteDeps, request: FastifyRequest) {
  return { actor: operatorOf(request).actor, from: request.ip, nowMs: now() };
}
