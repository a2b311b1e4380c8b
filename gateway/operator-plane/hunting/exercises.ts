// The resource `exercises`: drills with harmless steps that people do on nodes by hand, and how much of them was seen. No
// route of it runs anything on a node. decision: D146
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { type Exercises, NO_EXERCISE } from '../../../actors/hunting/exercises.ts';
import { EXERCISE_STEPS } from '../../../machines/detection/exercise-steps.ts';
import { PAGE_ITEMS_DEFAULT } from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { CursorSigner } from '../plumbing/cursor.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { pageOf } from '../plumbing/pages.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { PageOf, PageQuery, refusals, Strict } from '../plumbing/shapes.ts';
import {
  detectionIn,
  ExerciseView,
  exerciseView,
  NewExercise,
  StepView,
} from './exercise-shapes.ts';

const Path = Strict({ id: Uuid });
const LIST = 'exercises';

export type ExerciseRouteDeps = {
  readonly exercises: Exercises;
  readonly cursors: CursorSigner;
  readonly now: () => number;
};

/** The routes; `exercises:read` sees, `exercises:write` changes. */
export function exerciseRoutes(deps: ExerciseRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await readRoutes(deps)(app, {});
    await changeRoutes(deps)(app, {});
  };
}

function readRoutes(deps: ExerciseRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/exercises', {
      config: { guard: { scope: 'exercises:read' } },
      schema: {
        operationId: 'listExercises',
        summary: 'Exercises, newest first',
        tags: ['exercises'],
        querystring: Strict(PageQuery),
        response: { 200: PageOf(ExerciseView), ...refusals(400, 401, 403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { limit = PAGE_ITEMS_DEFAULT, cursor } = request.query;
        const opened = cursor === undefined ? null : deps.cursors.open(LIST, {}, cursor);
        if (opened !== null && !opened.ok) return sendRefusal(reply, opened);
        const before = opened === null ? null : String(opened.position['id']);
        const rows = await deps.exercises.list({ limit: limit + 1, before });
        const items = rows.slice(0, limit).map(exerciseView);
        const last = items.at(-1);
        const next =
          rows.length > limit && last !== undefined
            ? deps.cursors.seal(LIST, {}, { id: last.exercise_id })
            : null;
        return pageOf(reply, items, next);
      },
    });

    app.get('/exercises/steps', {
      config: { guard: { scope: 'exercises:read' } },
      schema: {
        operationId: 'listExerciseSteps',
        summary: 'The library of harmless steps',
        tags: ['exercises'],
        response: { 200: Type.Object({ items: Type.Array(StepView) }), ...refusals(401, 403, 429) },
      },
      handler: async () => ({ items: [...EXERCISE_STEPS] }),
    });

    app.get('/exercises/:id', {
      config: { guard: { scope: 'exercises:read' } },
      schema: {
        operationId: 'getExercise',
        summary: 'One exercise, and its result as far as it is known',
        tags: ['exercises'],
        params: Path,
        response: { 200: ExerciseView, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const row = await deps.exercises.get(request.params.id);
        return row === null ? sendRefusal(reply, NO_EXERCISE) : exerciseView(row);
      },
    });
  };
}

function changeRoutes(deps: ExerciseRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/exercises', {
      config: { guard: { scope: 'exercises:write' } },
      schema: {
        operationId: 'createExercise',
        summary: 'Plan an exercise',
        tags: ['exercises'],
        body: NewExercise,
        response: { 201: ExerciseView, ...refusals(401, 403, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { name, window_secs: secs, sensor_ids: sensorIds, steps: asked } = request.body;
        const steps = asked.map((one) => ({ step: one.step, detection: detectionIn(one) }));
        const plan = { name, sensorIds, windowMs: secs * 1_000, steps };
        const made = await deps.exercises.create({ ...contextOf(deps, request), plan });
        if (!made.ok) return sendRefusal(reply, made);
        reply.code(201);
        return exerciseView(made.exercise);
      },
    });

    for (const [act, operationId, summary, type] of [
      ['start', 'startExercise', 'Begin its window now', 'exercise.started'],
      ['end', 'endExercise', 'End its window now', 'exercise.ended'],
      ['abandon', 'abandonExercise', 'Give it up', 'exercise.abandoned'],
    ] as const) {
      app.post(`/exercises/:id/${act}`, {
        config: { guard: { scope: 'exercises:write' } },
        schema: {
          operationId,
          summary,
          tags: ['exercises'],
          params: Path,
          response: { 200: ExerciseView, ...refusals(401, 403, 404, 409, 422, 429, 503) },
        },
        handler: async (request, reply) => {
          const context = contextOf(deps, request);
          const atMs = context.nowMs;
          const event = type === 'exercise.abandoned' ? { type } : { type, atMs };
          const done = await deps.exercises.move({ ...context, id: request.params.id, event });
          return done.ok ? exerciseView(done.exercise) : sendRefusal(reply, done);
        },
      });
    }

    app.delete('/exercises/:id', {
      config: { guard: { scope: 'exercises:write' } },
      schema: {
        operationId: 'removeExercise',
        summary: 'Remove an exercise with its result',
        tags: ['exercises'],
        params: Path,
        response: { 204: Type.Null(), ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { id } = request.params;
        const isGone = await deps.exercises.remove({ ...contextOf(deps, request), id });
        return isGone ? reply.code(204).send(null) : sendRefusal(reply, NO_EXERCISE);
      },
    });
  };
}

function contextOf({ now }: ExerciseRouteDeps, request: FastifyRequest) {
  return { actor: operatorOf(request).actor, from: request.ip, nowMs: now() };
}
