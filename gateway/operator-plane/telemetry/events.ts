// The resource `events`: search by time range and filters, and exports of the filter.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { RuntimeEvent } from '../../../machines/wire/event.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import { PageOf, refusals, Time } from '../plumbing/shapes.ts';
import { answerEvents } from './event-answer.ts';
import { EventsQuery } from './event-query.ts';
import type { TelemetryRouteDeps } from './telemetry-deps.ts';

export const EventItem = Type.Intersect([
  RuntimeEvent,
  Type.Object({ sensor_id: Uuid, node_name: Type.String(), received_at: Time }),
]);
export const eventContent = {
  description: 'A page, or the whole filter as CSV or NDJSON.',
  content: {
    'application/json': { schema: PageOf(EventItem) },
    'application/x-ndjson': { schema: Type.String() },
    'text/csv': { schema: Type.String() },
  },
};

export function eventRoutes(deps: TelemetryRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/events', {
      config: { guard: { scope: 'events:read' } },
      schema: {
        operationId: 'searchEvents',
        summary: 'Search runtime events',
        description:
          'Newest first unless `order=ascending`. With `Accept: text/csv` or `application/x-ndjson` the whole filter is streamed.',
        tags: ['events'],
        querystring: EventsQuery,
        response: { 200: eventContent, ...refusals(401, 403, 422, 429, 503, 504) },
      },
      handler: async (request, reply) => {
        await answerEvents(deps, request.query, request, reply);
        return reply;
      },
    });
  };
}
