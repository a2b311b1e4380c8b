// One process among the events of its sensor: what started it and what it started, and everything that it did in the order
// of time. decision: D141
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { type CountedTree, readProcessTree } from '../../../actors/detection/process-tree.ts';
import { conditionText } from '../../../machines/detection/condition-text.ts';
import { refuse } from '../../../machines/errors.ts';
import { NAME_MAX_CHARS } from '../../../machines/wire/event.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, PageQuery, refusals, Strict } from '../plumbing/shapes.ts';
import { askEvents } from './ask-events.ts';
import { answerEvents } from './event-answer.ts';
import { EventFilter, spanOf } from './event-query.ts';
import { eventContent } from './events.ts';
import type { TelemetryRouteDeps } from './telemetry-deps.ts';

const { from, to } = EventFilter.properties;
const OfProcess = {
  sensor_id: Uuid,
  exec_id: Type.String({ minLength: 1, maxLength: NAME_MAX_CHARS }),
  ...{ from, to },
};
export const ProcessTreeView = Type.Object({
  sensor_id: Uuid,
  exec_id: Type.String(),
  is_cut: Type.Boolean({ description: 'There is more than is shown' }),
  items: Type.Array(
    Type.Object({
      exec_id: Type.String(),
      parent_exec_id: Nullable(Type.String()),
      depth: Type.Integer({ description: '0 is the process; what started it is below zero' }),
      pid: Type.Integer(),
      uid: Nullable(Type.Integer()),
      binary: Type.String(),
      arguments: Type.String(),
      started_at: Nullable(Type.String()),
      ended_at: Nullable(Type.String()),
      events: Type.Integer(),
    }),
    { description: 'In the order of a walk: each process before those that it started' },
  ),
});
export type ProcessTreeView = Type.Static<typeof ProcessTreeView>;
export const ProcessQuery = Strict(OfProcess);
export const TimelineQuery = Strict({ ...OfProcess, ...PageQuery });

/** Both routes. */
export function eventProcessRoutes(deps: TelemetryRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/events/tree', {
      config: { guard: { scope: 'events:read' } },
      schema: {
        operationId: 'getProcessTree',
        summary: 'What started a process, and what it started',
        description: 'Within the last day unless `from` and `to` say otherwise.',
        tags: ['events'],
        querystring: ProcessQuery,
        response: { 200: ProcessTreeView, ...refusals(401, 403, 404, 422, 429, 503, 504) },
      },
      handler: async (request, reply) => {
        const { sensor_id: sensorId, exec_id: execId, ...range } = request.query;
        const span = spanOf(range, deps.now());
        if ('ok' in span) return sendRefusal(reply, span);
        const tree = await askEvents(deps.searches, request, (signal) =>
          readProcessTree(deps.events, { sensorId, execId, ...span }, signal),
        );
        if (tree === null) return sendRefusal(reply, NO_PROCESS);
        return viewOf(tree, { sensorId, execId });
      },
    });

    app.get('/events/timeline', {
      config: { guard: { scope: 'events:read' } },
      schema: {
        operationId: 'listProcessEvents',
        summary: 'Everything that one process did, in the order of time',
        description: 'With `Accept: text/csv` or `application/x-ndjson` it is streamed whole.',
        tags: ['events'],
        querystring: TimelineQuery,
        response: { 200: eventContent, ...refusals(401, 403, 422, 429, 503, 504) },
      },
      handler: async (request, reply) => {
        const { exec_id: execId, ...asked } = request.query;
        const q = conditionText({ is: 'among', field: 'process.exec_id', values: [execId] });
        await answerEvents(deps, { ...asked, q, order: 'ascending' }, request, reply);
        return reply;
      },
    });
  };
}

const NO_PROCESS = refuse('not_found', 'No event in this time tells of such a process.');

function viewOf(
  { nodes, isCut, events }: CountedTree,
  { sensorId, execId }: { readonly sensorId: string; readonly execId: string },
): ProcessTreeView {
  return {
    ...{ sensor_id: sensorId, exec_id: execId, is_cut: isCut },
    items: nodes.map((node) => ({
      ...{ exec_id: node.execId, parent_exec_id: node.parentExecId, depth: node.depth },
      ...{ pid: node.process.pid, uid: node.process.uid ?? null, binary: node.process.binary },
      arguments: node.process.arguments ?? '',
      ...{ started_at: node.startedAt, ended_at: node.endedAt },
      events: events.get(node.execId) ?? 0,
    })),
  };
}
