// A sensor's actor: what it is now, and every move it made, from the event store.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { refuse } from '../../../machines/errors.ts';
import { PAGE_ITEMS_DEFAULT } from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { TransitionRow } from '../../../storage/ports/telemetry/event-store.ts';
import { withinDeadline } from '../plumbing/deadline.ts';
import { pageOf } from '../plumbing/pages.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import {
  Nullable,
  PageOf,
  PageQuery,
  refusals,
  SensorPath,
  Strict,
  Time,
} from '../plumbing/shapes.ts';
import { timeText, timeTextOrNull } from '../plumbing/time-range.ts';
import { actorDetail, jsonSafe } from '../system/actor-view.ts';
import type { FleetRouteDeps } from './fleet-deps.ts';
import { Because, reasonsOf } from './health-reasons.ts';

export const Move = Type.Object({
  region: Type.String(),
  from: Type.String(),
  to: Type.String(),
  event: Type.String(),
  facts: Type.Record(Type.String(), Type.Unknown()),
  at: Time,
});
export const ActorLineShape = {
  kind: Type.String(),
  id: Type.String(),
  value: Type.Unknown(),
  status: Type.String(),
  since: Time,
  last_event: Type.String(),
  restarts: Type.Integer(),
  about: Nullable(Type.Record(Type.String(), Type.Unknown())),
};
export const SensorActor = Type.Object({
  ...ActorLineShape,
  sensor_id: Uuid,
  context: Type.Unknown(),
  tags: Type.Array(Type.String()),
  timers: Type.Array(
    Type.Object({
      state: Type.String(),
      delay: Type.Union([Type.String(), Type.Number()]),
      targets: Type.Array(Type.String()),
    }),
  ),
  trust_state: Nullable(Type.String()),
  trust_health: Nullable(Type.String()),
  because: Type.Array(Because),
  last_heartbeat_at: Nullable(Time),
  recent_moves: Type.Array(Move),
});

export function sensorHistoryRoutes(deps: FleetRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/sensors/:id/actor', {
      config: { guard: { scope: 'sensors:read' } },
      schema: {
        operationId: 'getSensorActor',
        summary: 'The live actor of a sensor',
        tags: ['sensors', 'actors'],
        params: SensorPath,
        response: { 200: SensorActor, ...refusals(401, 403, 404, 422, 429) },
      },
      handler: async (request, reply) => {
        const { id } = request.params;
        const glimpse = deps.sensorActors.ask(id);
        if (glimpse === 'absent') {
          return sendRefusal(reply, refuse('not_found', 'No actor of this sensor lives here.'));
        }
        const live = deps.fleet.get(id);
        return {
          sensor_id: id,
          ...actorDetail(deps.sensorActors.kind, glimpse),
          trust_state: live?.trust_state ?? null,
          trust_health: live?.trust_health ?? null,
          because: await becauseOf(deps, id),
          last_heartbeat_at: timeTextOrNull(live?.last_heartbeat_at_ms),
          recent_moves: deps.feed.recentOf(deps.sensorActors.kind, id).map(moveView),
        };
      },
    });

    app.get('/sensors/:id/transitions', {
      config: { guard: { scope: 'sensors:read' } },
      schema: {
        operationId: 'listSensorTransitions',
        summary: 'Every recorded move of a sensor, newest first',
        tags: ['sensors', 'actors'],
        params: SensorPath,
        querystring: Strict(PageQuery),
        response: { 200: PageOf(Move), ...refusals(401, 403, 404, 422, 429, 503, 504) },
      },
      handler: async (request, reply) => {
        const { limit = PAGE_ITEMS_DEFAULT, cursor } = request.query;
        const { id } = request.params;
        const opened = cursor === undefined ? null : deps.cursors.open('transitions', id, cursor);
        if (opened?.ok === false) return sendRefusal(reply, opened);
        if ((await deps.registry.getSensor(id)) === null) {
          return sendRefusal(reply, refuse('not_found', 'There is no such sensor.'));
        }
        const rows = await withinDeadline(
          deps.events.transitionsOf({
            sensorId: id,
            limit: limit + 1,
            ...(opened === null ? {} : { beforeMs: Number(opened.position['b']) }),
          }),
        );
        const { page, nextBeforeMs } = pageByInstant(rows, limit);
        return pageOf(
          reply,
          page.map(moveView),
          nextBeforeMs === null ? null : deps.cursors.seal('transitions', id, { b: nextBeforeMs }),
        );
      },
    });
  };
}

/**
 * Cuts a page between two instants, since the store pages by instant: moves of one instant stay together unless they
 * alone fill the page.
 */
export function pageByInstant(
  rows: readonly TransitionRow[],
  limit: number,
): { readonly page: readonly TransitionRow[]; readonly nextBeforeMs: number | null } {
  const extra = rows[limit];
  if (extra === undefined) return { page: rows, nextBeforeMs: null };
  let end = limit;
  while (end > 0 && rows[end - 1]?.atMs === extra.atMs) end -= 1;
  const page = rows.slice(0, end === 0 ? limit : end);
  return { page, nextBeforeMs: page.at(-1)?.atMs ?? null };
}

/** The row is read only where an engine lacks something: its words stand there. */
async function becauseOf({ fleet, registry }: FleetRouteDeps, id: string): Promise<Because[]> {
  const live = fleet.get(id);
  if (live === undefined) return [];
  const row = live.engine === 'degraded' ? await registry.getSensor(id) : null;
  return reasonsOf(live, row?.facts?.engine);
}

type AnyMove = Pick<TransitionRow, 'region' | 'from' | 'to' | 'event' | 'facts' | 'atMs'>;

function moveView(move: AnyMove): Type.Static<typeof Move> {
  return {
    region: move.region,
    from: move.from,
    to: move.to,
    event: move.event,
    facts: jsonSafe(move.facts) as Record<string, unknown>,
    at: timeText(move.atMs),
  };
}
