// Why an event is unusual, and what people declare to be usual from now on. decision: D147
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import type { UsualDocument, UsualMarks } from '../../../actors/hunting/usual-marks.ts';
import { programsOf, respectsOf } from '../../../machines/detection/unusual.rules.ts';
import { refuse } from '../../../machines/errors.ts';
import { USUAL_REASON_MAX_CHARS } from '../../../machines/limits.ts';
import type { Baseline } from '../../../machines/wire/baseline.ts';
import { BINARY_MAX_CHARS, type StoredEvent } from '../../../machines/wire/event.ts';
import { Timestamp, Uuid } from '../../../machines/wire/scalars.ts';
import type { BaselineStore } from '../../../storage/ports/telemetry/baseline-store.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, refusals, Strict, Time } from '../plumbing/shapes.ts';
import { timeText, timeTextOrNull } from '../plumbing/time-range.ts';
import { askEvents } from '../telemetry/ask-events.ts';
import type { TelemetryRouteDeps } from '../telemetry/telemetry-deps.ts';

const Explained = Strict({
  event_id: Type.String({ pattern: '^[0-9a-f]{32}$' }),
  ...{ sensor_id: Uuid, observed_at: Timestamp },
});
export const Explanation = Type.Object({
  anomaly_score: Nullable(Type.Number({ description: 'null: too little is known of the program' })),
  is_declared_usual: Type.Boolean(),
  respects: Type.Array(
    Type.Object({
      binary: Type.String(),
      respect: Type.String({ description: 'children, files, destinations, users or hours' }),
      value: Type.String({ description: 'what the event showed' }),
      is_learned: Nullable(Type.Boolean({ description: 'null: nothing is known of it' })),
      share: Nullable(Type.Number({ description: 'of what was seen there, the same' })),
      is_unusual: Type.Boolean(),
      usual: Type.Array(Type.Object({ name: Type.String(), share: Type.Number() })),
    }),
  ),
});
const NewMark = Strict({
  binary: Type.Optional(Type.String({ minLength: 1, maxLength: BINARY_MAX_CHARS })),
  sensor_id: Type.Optional(Uuid),
  reason: Type.String({ minLength: 1, maxLength: USUAL_REASON_MAX_CHARS }),
  until: Type.Optional(Timestamp),
});
export const UsualMarkView = Type.Object({
  mark_id: Uuid,
  binary: Nullable(Type.String()),
  sensor_id: Nullable(Uuid),
  reason: Type.String(),
  by: Type.String(),
  until: Nullable(Time),
  created_at: Time,
});
export type Explanation = Type.Static<typeof Explanation>;
export type UsualMarkView = Type.Static<typeof UsualMarkView>;
export type NewMark = Type.Static<typeof NewMark>;

export type UsualRouteDeps = Pick<TelemetryRouteDeps, 'events' | 'searches' | 'now'> & {
  readonly usual: UsualMarks;
  readonly baselines: Pick<BaselineStore, 'baselinesOf'>;
};

/** The routes. */
export function usualRoutes(deps: UsualRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await explanationRoute(deps)(app, {});
    await markRoutes(deps)(app, {});
  };
}

function explanationRoute(deps: UsualRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/events/explanation', {
      config: { guard: { scope: 'events:read' } },
      schema: {
        operationId: 'explainEvent',
        summary: 'Why an event is unusual, by the habits of its programs on its node',
        tags: ['events'],
        querystring: Explained,
        response: { 200: Explanation, ...refusals(401, 403, 404, 422, 429, 503, 504) },
      },
      handler: async (request, reply) => {
        const { event_id: eventId, sensor_id: sensorId, observed_at } = request.query;
        const atMs = Date.parse(observed_at);
        if (!Number.isFinite(atMs)) return sendRefusal(reply, NO_EVENT);
        const found = await askEvents(deps.searches, request, async (signal) => {
          const [event] = await deps.events.search({
            ...{ sensorId, fromMs: atMs, toMs: atMs + 1, limit: 1, signal },
            condition: { is: 'among', field: 'event_id', values: [eventId] },
          });
          if (event === undefined) return null;
          return { event, baselines: await baselinesFor(deps, event) };
        });
        if (found === null) return sendRefusal(reply, NO_EVENT);
        const isUsual = await deps.usual.judge();
        return explanationOf(found.event, found.baselines, (binary) =>
          isUsual({ binary, sensorId }, deps.now()),
        );
      },
    });
  };
}

async function baselinesFor(
  deps: UsualRouteDeps,
  event: StoredEvent,
): Promise<ReadonlyMap<string, Baseline>> {
  const known = new Map<string, Baseline>();
  for (const binary of programsOf(event)) {
    const query = { sensorId: event.sensor_id, binary, limit: 1, afterBinary: null };
    const [baseline] = await deps.baselines.baselinesOf(query);
    if (baseline !== undefined) known.set(binary, baseline);
  }
  return known;
}

function explanationOf(
  event: StoredEvent,
  baselines: ReadonlyMap<string, Baseline>,
  isUsual: (binary: string) => boolean,
): Explanation {
  return {
    anomaly_score: event.anomaly_score ?? null,
    is_declared_usual: isUsual(event.process?.binary ?? ''),
    respects: respectsOf(event, baselines).map((one) => ({
      ...{ binary: one.binary, respect: one.dimension, value: one.value },
      ...{ is_learned: one.isLearned, share: one.share, is_unusual: one.isUnusual },
      usual: [...one.usual],
    })),
  };
}

function markRoutes(deps: UsualRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/usual-marks', {
      config: { guard: { scope: 'events:read' } },
      schema: {
        operationId: 'listUsualMarks',
        summary: 'What is declared to be usual',
        tags: ['usual-marks'],
        response: {
          200: Type.Object({ items: Type.Array(UsualMarkView) }),
          ...refusals(401, 403, 429, 503),
        },
      },
      handler: async () => ({ items: (await deps.usual.list()).map(markView) }),
    });

    app.post('/usual-marks', {
      config: { guard: { scope: 'usual:write' } },
      schema: {
        operationId: 'markUsual',
        summary: 'Declare a program or a sensor to be usual from now on',
        description:
          'It ends alerts for being unusual. Rules, policies and nodes never hear of it.',
        tags: ['usual-marks'],
        body: NewMark,
        response: { 201: UsualMarkView, ...refusals(401, 403, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { binary = null, sensor_id: sensorId = null, reason, until } = request.body;
        const untilMs = until === undefined ? null : Date.parse(until);
        const done = await deps.usual.mark({
          ...{ actor: operatorOf(request).actor, from: request.ip, nowMs: deps.now() },
          mark: { binary, sensorId, reason, untilMs },
        });
        if (!done.ok) return sendRefusal(reply, done);
        reply.code(201);
        return markView(done.mark);
      },
    });

    app.delete('/usual-marks/:id', {
      config: { guard: { scope: 'usual:write' } },
      schema: {
        operationId: 'removeUsualMark',
        summary: 'Let it count as before',
        tags: ['usual-marks'],
        params: Strict({ id: Uuid }),
        response: { 204: Type.Null(), ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { id } = request.params;
        const context = { actor: operatorOf(request).actor, from: request.ip, nowMs: deps.now() };
        const isGone = await deps.usual.remove({ ...context, id });
        return isGone ? reply.code(204).send(null) : sendRefusal(reply, NO_MARK);
      },
    });
  };
}

const NO_EVENT = refuse('not_found', 'There is no such event.');
const NO_MARK = refuse('not_found', 'There is no such mark.');

function markView({ id, body, createdAtMs }: UsualDocument): UsualMarkView {
  const { binary, sensorId, reason, by, untilMs } = body;
  return {
    ...{ mark_id: id, binary, sensor_id: sensorId, reason, by },
    ...{ until: timeTextOrNull(untilMs), created_at: timeText(createdAtMs) },
  };
}
