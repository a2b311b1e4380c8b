// Containing a node and letting it go, and who ordered what. Owners of a sensor may; nobody for a sensor of somebody
// else. decision: D85; invariant: I18
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import type { ContainmentService } from '../../../actors/containment/containment-service.ts';
import type { SensorActors } from '../../../actors/trust/sensor-actors.ts';
import { type Refusal, refuse } from '../../../machines/errors.ts';
import { PAGE_ITEMS_DEFAULT } from '../../../machines/limits.ts';
import { CONTAINMENT_REASON_MAX_CHARS } from '../../../machines/policy/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type {
  ContainmentOrderRow,
  ContainmentOrders,
} from '../../../storage/ports/containment/containment-orders.ts';
import type { SensorRegistry } from '../../../storage/ports/fleet/sensor-registry.ts';
import type { CursorSigner } from '../plumbing/cursor.ts';
import type { FleetView } from '../plumbing/deps.ts';
import { operatorOf } from '../plumbing/guard.ts';
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
import { INSTANT_PATTERN, parseInstant, timeText, timeTextOrNull } from '../plumbing/time-range.ts';

export const ContainmentOrderItem = Type.Object({
  order_id: Uuid,
  wanted: Type.Enum(['contained', 'released']),
  reason: Type.String(),
  ordered_by: Type.String(),
  ordered_at: Time,
  until: Nullable(Time),
});
export const SensorContainment = Type.Object({
  sensor_id: Uuid,
  state: Type.String({ description: 'released, containing, contained, releasing or failed' }),
  is_contained: Type.Boolean({
    description: 'the node said that it is contained, and has not said that it is released',
  }),
  failure: Nullable(Type.String()),
  order: Nullable(ContainmentOrderItem),
  known_limits: Type.Array(Type.String()),
});
export type ContainmentOrderItem = Type.Static<typeof ContainmentOrderItem>;
export type SensorContainment = Type.Static<typeof SensorContainment>;

const Reason = Type.String({ minLength: 1, maxLength: CONTAINMENT_REASON_MAX_CHARS });
const Contain = Strict({
  reason: Reason,
  until: Type.Optional(
    Type.String({
      pattern: INSTANT_PATTERN,
      description: 'when it ends by the clock of the node; absent: by a release alone',
    }),
  ),
});

/** What the packet filter of a node cannot hold back. */
export const KNOWN_LIMITS: readonly string[] = [
  'Other network namespaces with an uplink of their own are not held back.',
  'Frames that never reach the IP layer (raw packets on the link, traffic inside one bridge) are not held back.',
  'When the Console is named by a host name, its resolvers stay reachable.',
  'Whoever is root on the node can remove the rules; they are put back and counted.',
];

export type ContainmentRouteDeps = {
  readonly service: ContainmentService;
  readonly orders: Pick<ContainmentOrders, 'list'>;
  readonly registry: Pick<SensorRegistry, 'getSensor'>;
  readonly sensors: Pick<SensorActors, 'view'>;
  readonly fleet: FleetView;
  readonly cursors: CursorSigner;
  readonly now: () => number;
};

export function containmentRoutes(deps: ContainmentRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await orderRoutes(deps)(app, {});
    await readingRoutes(deps)(app, {});
  };
}

function orderRoutes(deps: ContainmentRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/sensors/:id/contain', {
      config: { guard: { scope: 'assignments:write', owned: 'sensor' } },
      schema: {
        operationId: 'containSensor',
        summary: 'Cut a node off from everything but the Console',
        tags: ['sensors'],
        params: SensorPath,
        body: Contain,
        response: { 202: SensorContainment, ...refusals(401, 403, 404, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { reason, until } = request.body;
        const nowMs = deps.now();
        const untilMs = until === undefined ? null : parseInstant(until, nowMs);
        if (until !== undefined && (untilMs === null || untilMs <= nowMs)) {
          return sendRefusal(reply, notLater());
        }
        const placed = await deps.service.order({
          ...{ sensorId: request.params.id, wanted: 'contained', reason, untilMs },
          ...{ actor: operatorOf(request).actor, from: request.ip },
        });
        if (!placed.ok) return sendRefusal(reply, placed);
        reply.code(202);
        return viewOf(deps, placed.order.sensorId, placed.order);
      },
    });

    app.post('/sensors/:id/release', {
      config: { guard: { scope: 'assignments:write', owned: 'sensor' } },
      schema: {
        operationId: 'releaseSensor',
        summary: 'End the containment of a node',
        tags: ['sensors'],
        params: SensorPath,
        body: Strict({ reason: Reason }),
        response: { 202: SensorContainment, ...refusals(401, 403, 404, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const placed = await deps.service.order({
          ...{ sensorId: request.params.id, wanted: 'released', untilMs: null },
          ...{ reason: request.body.reason, actor: operatorOf(request).actor, from: request.ip },
        });
        if (!placed.ok) return sendRefusal(reply, placed);
        reply.code(202);
        return viewOf(deps, placed.order.sensorId, placed.order);
      },
    });
  };
}

function readingRoutes(deps: ContainmentRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/sensors/:id/containment', {
      config: { guard: { scope: 'sensors:read' } },
      schema: {
        operationId: 'getSensorContainment',
        summary: 'Whether a node is contained, by which order, and what that cannot hold back',
        tags: ['sensors'],
        params: SensorPath,
        response: { 200: SensorContainment, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const row = await deps.registry.getSensor(request.params.id);
        if (row === null) return sendRefusal(reply, NO_SENSOR);
        return viewOf(deps, row.sensorId, row.containmentOrder ?? null);
      },
    });

    app.get('/sensors/:id/containment-orders', {
      config: { guard: { scope: 'sensors:read' } },
      schema: {
        operationId: 'listContainmentOrders',
        summary: 'Who ordered what, newest first',
        tags: ['sensors'],
        params: SensorPath,
        querystring: Strict(PageQuery),
        response: { 200: PageOf(ContainmentOrderItem), ...refusals(400, 401, 403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { limit = PAGE_ITEMS_DEFAULT, cursor } = request.query;
        const { id: sensorId } = request.params;
        const opened = cursor === undefined ? null : deps.cursors.open(LIST, { sensorId }, cursor);
        if (opened !== null && !opened.ok) return sendRefusal(reply, opened);
        const before = opened === null ? null : String(opened.position['id']);
        const rows = await deps.orders.list({ sensorId, limit: limit + 1, before });
        const items = rows.slice(0, limit).map(itemOf);
        const last = items.at(-1);
        const next =
          rows.length > limit && last !== undefined
            ? deps.cursors.seal(LIST, { sensorId }, { id: last.order_id })
            : null;
        return pageOf(reply, items, next);
      },
    });
  };
}

const LIST = 'containment-orders';
const NO_SENSOR = refuse('not_found', 'There is no such sensor.');

function notLater(): Refusal {
  return refuse('schema_violation', 'The end of a containment lies ahead.', {
    errors: [{ pointer: '/until', detail: 'must be later than now' }],
  });
}

function viewOf(
  { sensors, fleet, now }: ContainmentRouteDeps,
  sensorId: string,
  order: ContainmentOrderRow | null,
): SensorContainment {
  const known = sensors.view(sensorId, now())?.containment;
  return {
    sensor_id: sensorId,
    state: fleet.get(sensorId)?.containment ?? 'released',
    is_contained: known?.isContained === true,
    failure: known?.report?.failure ?? null,
    order: order === null ? null : itemOf(order),
    known_limits: [...KNOWN_LIMITS],
  };
}

function itemOf(row: ContainmentOrderRow): ContainmentOrderItem {
  return {
    order_id: row.orderId,
    wanted: row.wanted,
    reason: row.reason,
    ordered_by: row.orderedBy,
    ordered_at: timeText(row.orderedAtMs),
    until: timeTextOrNull(row.untilMs),
  };
}
