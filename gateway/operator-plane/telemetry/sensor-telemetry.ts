// What a sensor tells beside events: the use of resources, flows, what its node holds now (inventory), what is usual there
// and what was not.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { refuse } from '../../../machines/errors.ts';
import { PAGE_ITEMS_DEFAULT } from '../../../machines/limits.ts';
import { Baseline } from '../../../machines/wire/baseline.ts';
import { PipelineReport } from '../../../machines/wire/heartbeat.ts';
import { INVENTORY_SECTIONS } from '../../../machines/wire/inventory.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { ResourceRow, TimeSpan } from '../../../storage/ports/telemetry/telemetry-store.ts';
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
import { SpanQuery, spanOf } from '../plumbing/span-query.ts';
import { timeText } from '../plumbing/time-range.ts';
import type { TelemetryRouteDeps } from './telemetry-deps.ts';

const ListQuery = { ...SpanQuery, limit: PageQuery.limit };
const ListOf = <S extends Parameters<typeof PageOf>[0]>(item: S) =>
  Type.Object({ items: Type.Array(item) });
const Resources = Type.Object({
  at: Time,
  cpu_percent: Type.Number({ description: 'of one processor, by the Sensor itself' }),
  memory_bytes: Type.Integer({ description: 'held by the Sensor itself' }),
  node: Nullable(
    Type.Object({
      cpu_percent: Type.Number({ description: 'of all processors together' }),
      memory_total_bytes: Type.Integer(),
      memory_available_bytes: Type.Integer(),
    }),
  ),
  load_1m: Nullable(Type.Number()),
  uptime_seconds: Nullable(Type.Number()),
  disk_free_bytes: Nullable(Type.Integer()),
  pipeline: PipelineReport,
});
const Flow = Type.Object({
  protocol: Type.String(),
  direction: Type.String(),
  remote_ip: Type.String(),
  port: Type.Integer(),
  domain: Type.String(),
  binary: Type.String(),
  container_id: Type.String(),
  connections: Type.Integer(),
  first_seen_at: Time,
  last_seen_at: Time,
});
const Score = Type.Object({
  at: Type.String(),
  event_id: Type.String(),
  event_kind: Type.String(),
  binary: Type.String(),
  score: Type.Number(),
});
const StoredBaseline = Type.Intersect([Baseline, Type.Object({ stored_at: Time })]);
const InventorySection = Type.Object({
  sensor_id: Uuid,
  section: Type.Enum([...INVENTORY_SECTIONS]),
  hash: Type.String(),
  stored_at: Time,
  total: Type.Integer({ description: 'Items that are stored' }),
  node_total: Nullable(
    Type.Integer({ description: 'Items on the node, when it has too many to tell them all' }),
  ),
  items: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  next_cursor: Nullable(Type.String()),
});
export type Resources = Type.Static<typeof Resources>;
export type Flow = Type.Static<typeof Flow>;
export type Score = Type.Static<typeof Score>;
export type InventorySection = Type.Static<typeof InventorySection>;
export type StoredBaseline = Type.Static<typeof StoredBaseline>;

function nodeView(node: ResourceRow['node']): Resources['node'] {
  if (node === null) return null;
  return {
    cpu_percent: node.cpuPercent,
    memory_total_bytes: node.memoryTotalBytes,
    memory_available_bytes: node.memoryAvailableBytes,
  };
}

const REFUSALS = refusals(401, 403, 404, 422, 429, 503, 504);
const NO_SENSOR = refuse('not_found', 'There is no such sensor.');

export function sensorTelemetryRoutes(deps: TelemetryRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await seriesRoutes(deps)(app, {});
    await scoreRoute(deps)(app, {});
    await baselineRoute(deps)(app, {});
    await inventoryRoute(deps)(app, {});
  };
}

type Question = { readonly sensorId: string; readonly limit: number } & TimeSpan;
/** The newest rows of one sensor in a span. */
async function newest<Row, View>(
  deps: TelemetryRouteDeps,
  reply: FastifyReply,
  asked: {
    readonly of: {
      readonly params: { readonly id: string };
      readonly query: { readonly from?: string; readonly to?: string; readonly limit?: number };
    };
    ask(question: Question): Promise<readonly Row[]>;
    view(row: Row): View;
  },
) {
  const { params, query } = asked.of;
  const { id } = params;
  const span = spanOf(query, deps.now());
  if (!span.ok) return sendRefusal(reply, span);
  if ((await deps.registry.getSensor(id)) === null) return sendRefusal(reply, NO_SENSOR);
  const { limit = PAGE_ITEMS_DEFAULT } = query;
  const { fromMs, toMs } = span;
  const rows = await withinDeadline(asked.ask({ sensorId: id, fromMs, toMs, limit }));
  return { items: rows.map(asked.view) };
}

function seriesRoutes(deps: TelemetryRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/sensors/:id/resources', {
      config: { guard: { scope: 'sensors:read' } },
      schema: {
        operationId: 'listSensorResources',
        summary: 'Use of resources and counters of the pipeline, a sample a minute, newest first',
        tags: ['sensors'],
        params: SensorPath,
        querystring: Strict(ListQuery),
        response: { 200: ListOf(Resources), ...REFUSALS },
      },
      handler: (request, reply) =>
        newest(deps, reply, {
          of: request,
          ask: deps.telemetry.resourcesOf,
          view: (row) => ({
            at: timeText(row.atMs),
            ...{ cpu_percent: row.cpuPercent, memory_bytes: row.memoryBytes },
            node: nodeView(row.node),
            load_1m: row.load1m,
            uptime_seconds: row.uptimeSeconds,
            disk_free_bytes: row.diskFreeBytes,
            pipeline: row.pipeline,
          }),
        }),
    });

    app.get('/sensors/:id/flows', {
      config: { guard: { scope: 'sensors:read' } },
      schema: {
        operationId: 'listSensorFlows',
        summary: 'Who talked to whom, newest first',
        tags: ['sensors'],
        params: SensorPath,
        querystring: Strict(ListQuery),
        response: { 200: ListOf(Flow), ...REFUSALS },
      },
      handler: (request, reply) =>
        newest(deps, reply, {
          of: request,
          ask: deps.telemetry.flowsOf,
          view: (row) => ({
            ...{ protocol: row.protocol, direction: row.direction, remote_ip: row.remoteIp },
            ...{ port: row.port, domain: row.domain, binary: row.binary },
            ...{ container_id: row.containerId, connections: row.connections },
            first_seen_at: timeText(row.firstSeenAtMs),
            last_seen_at: timeText(row.lastSeenAtMs),
          }),
        }),
    });
  };
}

function scoreRoute(deps: TelemetryRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/sensors/:id/anomaly-scores', {
      config: { guard: { scope: 'events:read' } },
      schema: {
        operationId: 'listSensorAnomalyScores',
        summary: 'How unusual events were, newest first',
        tags: ['sensors', 'events'],
        params: SensorPath,
        querystring: Strict({
          ...ListQuery,
          at_least: Type.Optional(Type.Number({ minimum: 0, default: 0 })),
        }),
        response: { 200: ListOf(Score), ...REFUSALS },
      },
      handler: (request, reply) =>
        newest(deps, reply, {
          of: request,
          ask: (question) =>
            deps.telemetry.scoresOf({ ...question, atLeast: request.query.at_least ?? 0 }),
          view: ({ at, eventId, eventKind, binary, score }) => ({
            ...{ at, event_id: eventId, event_kind: eventKind, binary, score },
          }),
        }),
    });
  };
}

function baselineRoute(deps: TelemetryRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/sensors/:id/baselines', {
      config: { guard: { scope: 'sensors:read' } },
      schema: {
        operationId: 'listSensorBaselines',
        summary: 'What is usual for each program of a sensor, by its path',
        tags: ['sensors'],
        params: SensorPath,
        querystring: Strict(PageQuery),
        response: { 200: PageOf(StoredBaseline), ...REFUSALS },
      },
      handler: async (request, reply) => {
        const { id } = request.params;
        const { limit = PAGE_ITEMS_DEFAULT, cursor } = request.query;
        const opened = cursor === undefined ? null : deps.cursors.open('baselines', id, cursor);
        if (opened?.ok === false) return sendRefusal(reply, opened);
        if ((await deps.registry.getSensor(id)) === null) return sendRefusal(reply, NO_SENSOR);
        const afterBinary = opened === null ? null : String(opened.position['b']);
        const rows = await withinDeadline(
          deps.telemetry.baselinesOf({ sensorId: id, limit: limit + 1, afterBinary }),
        );
        const page = rows.slice(0, limit);
        const last = page.at(-1)?.binary;
        const next = rows.length > limit && last !== undefined ? { b: last } : null;
        return pageOf(
          reply,
          page.map(({ storedAtMs, ...row }) => ({ ...row, stored_at: timeText(storedAtMs) })),
          next === null ? null : deps.cursors.seal('baselines', id, next),
        );
      },
    });
  };
}

function inventoryRoute(deps: TelemetryRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/sensors/:id/inventory/:section', {
      config: { guard: { scope: 'sensors:read' } },
      schema: {
        operationId: 'getSensorInventory',
        summary: 'What a node holds now: its processes, connections, listening services and more',
        tags: ['sensors'],
        params: Strict({ id: Uuid, section: Type.Enum([...INVENTORY_SECTIONS]) }),
        querystring: Strict(PageQuery),
        response: { 200: InventorySection, ...REFUSALS },
      },
      handler: async (request, reply) => {
        const { id, section } = request.params;
        const { limit = PAGE_ITEMS_DEFAULT, cursor } = request.query;
        const list = `inventory ${section}`;
        const opened = cursor === undefined ? null : deps.cursors.open(list, id, cursor);
        if (opened?.ok === false) return sendRefusal(reply, opened);
        const own = await deps.telemetry.inventory.get(id, section);
        if (own === null) {
          return sendRefusal(reply, refuse('not_found', 'The sensor has sent no such section.'));
        }
        const from = opened === null ? 0 : Number(opened.position['n']);
        const to = from + limit;
        const next = to < own.items.length ? deps.cursors.seal(list, id, { n: to }) : null;
        return {
          ...{ sensor_id: id, section, hash: own.hash, stored_at: timeText(own.storedAtMs) },
          ...{ total: own.items.length, node_total: own.nodeTotal },
          ...pageOf(reply, own.items.slice(from, to), next),
        };
      },
    });
  };
}
