// The resource `sensors`: the fleet's list and each sensor's record.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { refuse } from '../../../machines/errors.ts';
import { PAGE_ITEMS_DEFAULT, TAG_MAX_CHARS } from '../../../machines/limits.ts';
import { TRUST_HEALTHS, TRUST_STATES } from '../../../machines/wire/heartbeat.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { SensorRow } from '../../../storage/ports/fleet/sensor-registry.ts';
import type { TeamStore } from '../../../storage/ports/fleet/teams.ts';
import type { CursorPosition } from '../plumbing/cursor.ts';
import { pageOf } from '../plumbing/pages.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { PageOf, PageQuery, refusals, SensorPath, Strict } from '../plumbing/shapes.ts';
import type { FleetRouteDeps } from './fleet-deps.ts';
import { listSensorPage } from './sensor-list.ts';
import { detailOf, SensorDetail, SensorSummary } from './sensor-view.ts';

export const ListQuery = Strict({
  node_name: Type.Optional(Type.String({ maxLength: 64, description: 'part of the name' })),
  trust_health: Type.Optional(Type.Array(Type.Enum([...TRUST_HEALTHS]))),
  trust_state: Type.Optional(Type.Array(Type.Enum([...TRUST_STATES]))),
  tag: Type.Optional(Type.String({ minLength: 1, maxLength: TAG_MAX_CHARS })),
  group_id: Type.Optional(Uuid),
  team_id: Type.Optional(Uuid),
  ...PageQuery,
});
export const NO_SENSOR = refuse('not_found', 'There is no such sensor.');

export function sensorRoutes(deps: FleetRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/sensors', {
      config: { guard: { scope: 'sensors:read' } },
      schema: {
        operationId: 'listSensors',
        summary: 'List sensors by name',
        description:
          'Filters on live states may give short pages; the list ends when `next_cursor` is null.',
        tags: ['sensors'],
        querystring: ListQuery,
        response: { 200: PageOf(SensorSummary), ...refusals(401, 403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { limit = PAGE_ITEMS_DEFAULT, cursor, ...filter } = request.query;
        const opened = cursor === undefined ? null : deps.cursors.open('sensors', filter, cursor);
        if (opened?.ok === false) return sendRefusal(reply, opened);
        const { items, next } = await listSensorPage({
          registry: deps.registry,
          fleet: deps.fleet,
          teams: deps.teams,
          filter,
          after: opened === null ? null : positionOf(opened.position),
          limit,
        });
        return pageOf(
          reply,
          items,
          next === null
            ? null
            : deps.cursors.seal('sensors', filter, { n: next.nodeName, s: next.sensorId }),
        );
      },
    });

    app.get('/sensors/:id', {
      config: { guard: { scope: 'sensors:read' } },
      schema: {
        operationId: 'getSensor',
        summary: 'One sensor with its latest facts',
        tags: ['sensors'],
        params: SensorPath,
        response: { 200: SensorDetail, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const row = await deps.registry.getSensor(request.params.id);
        return row === null ? sendRefusal(reply, NO_SENSOR) : labelledDetail(deps, row);
      },
    });
  };
}

/** A sensor's whole record with its labels. */
export async function labelledDetail(
  { teams, fleet }: Pick<FleetRouteDeps, 'fleet'> & { readonly teams: Pick<TeamStore, 'labelsOf'> },
  row: SensorRow,
) {
  const [labels] = await teams.labelsOf([row.sensorId]);
  return detailOf(row, fleet, labels);
}

function positionOf(position: CursorPosition) {
  return { nodeName: String(position['n']), sensorId: String(position['s']) };
}
