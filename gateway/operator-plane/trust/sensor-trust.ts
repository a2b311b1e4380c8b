// What an operator may do with a sensor's trust: end it for good, or give its node a new certificate.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { actOnEach, BulkAnswer, SensorIds } from '../fleet/bulk.ts';
import { SensorDetail } from '../fleet/sensor-view.ts';
import { labelledDetail, NO_SENSOR } from '../fleet/sensors.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { refusals, SensorPath, Strict } from '../plumbing/shapes.ts';
import { IssuedToken, issuedView } from './enrollment-tokens.ts';
import type { TrustRouteDeps } from './trust-deps.ts';

const REASON = Type.String({ minLength: 1, maxLength: 512 });
export const BulkRevoke = Strict({ sensor_ids: SensorIds, reason: REASON });

export function sensorTrustRoutes(deps: TrustRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/sensors/:id/revoke', {
      config: { guard: { scope: 'sensors:write', owned: 'sensor' } },
      schema: {
        operationId: 'revokeSensor',
        summary: 'Revoke a sensor; final, and effective at once',
        tags: ['sensors'],
        params: SensorPath,
        body: Strict({ reason: REASON }),
        response: { 200: SensorDetail, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const row = await deps.revokeSensor({
          sensorId: request.params.id,
          reason: request.body.reason,
          actor: operatorOf(request).actor,
          from: request.ip,
        });
        return row === null ? sendRefusal(reply, NO_SENSOR) : labelledDetail(deps, row);
      },
    });

    app.post('/sensors/bulk-revoke', {
      config: { guard: { scope: 'sensors:write' } },
      schema: {
        operationId: 'revokeSensors',
        summary: 'Revoke many sensors, with a result for each; final, and effective at once',
        tags: ['sensors'],
        body: BulkRevoke,
        response: { 200: BulkAnswer, ...refusals(401, 403, 422, 429, 503) },
      },
      handler: async (request) => {
        const { sensor_ids: sensorIds, reason } = request.body;
        const operator = operatorOf(request);
        const doing = { reason, actor: operator.actor, from: request.ip };
        return actOnEach(deps.teams, operator, sensorIds, async (sensorId) =>
          (await deps.revokeSensor({ ...doing, sensorId })) === null ? NO_SENSOR : null,
        );
      },
    });

    app.post('/sensors/:id/reenroll', {
      config: { guard: { scope: 'sensors:write', owned: 'sensor' } },
      schema: {
        operationId: 'reenrollSensor',
        summary: 'Make a token that gives this sensor a new certificate',
        tags: ['sensors'],
        params: SensorPath,
        body: Strict({}),
        response: { 201: IssuedToken, ...refusals(401, 403, 404, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const issued = await deps.tokens.createForSensor({
          sensorId: request.params.id,
          actor: operatorOf(request).actor,
          from: request.ip,
        });
        if (!issued.ok) return sendRefusal(reply, issued);
        reply.code(201);
        return issuedView(deps, issued);
      },
    });
  };
}
