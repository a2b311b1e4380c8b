// The resource `sensors`: the fleet's list and each sensor's record.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { refuse } from '../../../machines/errors.ts';
import { PAGE_ITEMS_DEFAULT, TAG_MAX_CHARS } from '../../../machines/limits.ts';
import { TRUST_HEALTHS, TRUST_STATES } from '../../../machines/wire/heartbeat.ts';
import { Flavor, Uuid } from '../../../machines/wire/scalars.ts';
import type { SensorRow } from '../../../storage/ports/fleet/sensor-registry.ts';
import type { TeamStore } from '../../../storage/ports/fleet/teams.ts';
import type { CursorPosition } from '../plumbing/cursor.ts';
import { pageOf } from '../plumbing/pages.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { PageOf, PageQuery, refusals, SensorPath, Strict } from '../plumbing/shapes.ts';
import type { FleetRouteDeps } from './fleet-deps.ts';
import { listSensorPage, listSortedPage } from './sensor-list.ts';
import { SENSOR_SORTS, SORTED_ROWS_MAX } from './sensor-sort.ts';
import { createSensorTally, SensorTally } from './sensor-tally.ts';
import { detailOf, SensorDetail, SensorSummary } from './sensor-view.ts';

export const ListQuery = Strict({
  node_name: Type.Optional(Type.String({ maxLength: 64, description: 'part of the name' })),
  trust_health: Type.Optional(Type.Array(Type.Enum([...TRUST_HEALTHS]))),
  trust_state: Type.Optional(Type.Array(Type.Enum([...TRUST_STATES]))),
  freshness: Type.Optional(Type.Array(Type.Enum(['awaiting', 'fresh', 'stale']))),
  stream: Type.Optional(Type.Array(Type.Enum(['closed', 'open']))),
  engine: Type.Optional(Type.Array(Type.Enum(['unknown', 'running', 'down']))),
  engine_kind: Type.Optional(Type.Array(Type.String({ maxLength: 32 }), { maxItems: 8 })),
  flavor: Type.Optional(Type.Array(Flavor)),
  os: Type.Optional(Type.String({ maxLength: 128, description: 'part of name and version' })),
  sensor_version: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 16 })),
  sort: Type.Optional(
    Type.Enum([...SENSOR_SORTS], {
      description: `by name when absent; a list of more than ${SORTED_ROWS_MAX} is ordered by name only`,
    }),
  ),
  tag: Type.Optional(Type.String({ minLength: 1, maxLength: TAG_MAX_CHARS })),
  group_id: Type.Optional(Uuid),
  team_id: Type.Optional(Uuid),
  ...PageQuery,
});
const TOO_MANY_TO_ORDER = refuse('schema_violation', 'Too many sensors match to be ordered so.', {
  errors: [
    { pointer: '/query/sort', detail: 'narrow the list, or leave it in the order of names' },
  ],
});
export const NO_SENSOR = refuse('not_found', 'There is no such sensor.');

export function sensorRoutes(deps: FleetRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/sensors', {
      config: { guard: { scope: 'sensors:read' } },
      schema: {
        operationId: 'listSensors',
        summary: 'List sensors, by name or in another order',
        description:
          'Filters on live states may give short pages; the list ends when `next_cursor` is null.',
        tags: ['sensors'],
        querystring: ListQuery,
        response: { 200: PageOf(SensorSummary), ...refusals(401, 403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { limit = PAGE_ITEMS_DEFAULT, cursor, ...asked } = request.query;
        const opened = cursor === undefined ? null : deps.cursors.open('sensors', asked, cursor);
        if (opened?.ok === false) return sendRefusal(reply, opened);
        const { sort = 'node_name', ...filter } = asked;
        const from = { registry: deps.registry, fleet: deps.fleet, teams: deps.teams };
        const position = opened === null ? null : opened.position;
        if (sort !== 'node_name') {
          const after = position === null ? null : sortedPositionOf(position);
          const page = await listSortedPage({ ...from, filter, sort, after, limit });
          if (page === null) return sendRefusal(reply, TOO_MANY_TO_ORDER);
          const { items, next } = page;
          const place = next === null ? null : { k: next.key, s: next.sensorId };
          return pageOf(reply, items, place && deps.cursors.seal('sensors', asked, place));
        }
        const after = position === null ? null : positionOf(position);
        const { items, next } = await listSensorPage({ ...from, filter, after, limit });
        const place = next === null ? null : { n: next.nodeName, s: next.sensorId };
        return pageOf(reply, items, place && deps.cursors.seal('sensors', asked, place));
      },
    });

    const countSensors = createSensorTally(deps);
    app.get('/sensors/tally', {
      config: { guard: { scope: 'sensors:read' } },
      schema: {
        operationId: 'tallySensors',
        summary: 'How many sensors there are in each state and of each version',
        tags: ['sensors'],
        response: { 200: SensorTally, ...refusals(401, 403, 429, 503) },
      },
      handler: () => countSensors(),
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

function sortedPositionOf({ k, s }: CursorPosition) {
  return { key: typeof k === 'number' ? k : String(k), sensorId: String(s) };
}

function positionOf(position: CursorPosition) {
  return { nodeName: String(position['n']), sensorId: String(position['s']) };
}
