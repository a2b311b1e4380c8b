// A search as the statement that the event store is asked, for people who go on in its own client. decision: D140
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { PAGE_ITEMS_DEFAULT } from '../../../machines/limits.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, PageQuery, refusals, Strict } from '../plumbing/shapes.ts';
import { EventFilter, questionOf } from './event-query.ts';
import type { TelemetryRouteDeps } from './telemetry-deps.ts';

export const StatementQuery = Strict({ ...EventFilter.properties, limit: PageQuery.limit });
export const Statement = Type.Object({
  sql: Nullable(Type.String({ description: 'Null where the event store has no such language' })),
});

export function eventStatementRoute(
  deps: Pick<TelemetryRouteDeps, 'events' | 'cursors' | 'now'>,
): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/events/sql', {
      config: { guard: { scope: 'events:read' } },
      schema: {
        operationId: 'showSearchStatement',
        summary: 'The SQL of a search; nothing is asked of the store',
        tags: ['events'],
        querystring: StatementQuery,
        response: { 200: Statement, ...refusals(401, 403, 422, 429) },
      },
      handler: async (request, reply) => {
        const { limit = PAGE_ITEMS_DEFAULT, ...filter } = request.query;
        const { cursors } = deps;
        const asked = questionOf({ filter, cursor: undefined, cursors, nowMs: deps.now() });
        if (!asked.ok) return sendRefusal(reply, asked);
        return { sql: await deps.events.statementOf({ ...asked.question, limit }) };
      },
    });
  };
}
