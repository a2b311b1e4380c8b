// The events of one sensor.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { NO_SENSOR } from '../fleet/sensors.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { refusals, SensorPath } from '../plumbing/shapes.ts';
import { answerEvents } from './event-answer.ts';
import { SensorEventsQuery } from './event-query.ts';
import { eventContent } from './events.ts';
import type { TelemetryRouteDeps } from './telemetry-deps.ts';

export function sensorEventRoutes(deps: TelemetryRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/sensors/:id/events', {
      config: { guard: { scope: 'events:read' } },
      schema: {
        operationId: 'searchSensorEvents',
        summary: 'Runtime events of one sensor',
        tags: ['sensors', 'events'],
        params: SensorPath,
        querystring: SensorEventsQuery,
        response: { 200: eventContent, ...refusals(401, 403, 404, 422, 429, 503, 504) },
      },
      handler: async (request, reply) => {
        const { id } = request.params;
        if ((await deps.registry.getSensor(id)) === null) return sendRefusal(reply, NO_SENSOR);
        await answerEvents(deps, { ...request.query, sensor_id: id }, request, reply);
        return reply;
      },
    });
  };
}
