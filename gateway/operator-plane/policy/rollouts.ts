// The resource `rollouts`: a version on its way to a target in stages, its gates and what they count now. decision: D90
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import type { BookService } from '../../../actors/policy/policy-book.ts';
import type { RolloutActs } from '../../../actors/policy/rollout-acts.ts';
import type { RolloutLooks } from '../../../actors/policy/rollout-looks.ts';
import type { Chance } from '../../../actors/trust/chance.ts';
import type { RolloutRow } from '../../../machines/console/policy/book.rules.ts';
import { refuse } from '../../../machines/errors.ts';
import { PAGE_ITEMS_DEFAULT } from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { RolloutStore } from '../../../storage/ports/policy/rollout-store.ts';
import type { CursorSigner } from '../plumbing/cursor.ts';
import { pageOf } from '../plumbing/pages.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, PageOf, PageQuery, refusals, Strict, Time } from '../plumbing/shapes.ts';
import { timeTextOrNull } from '../plumbing/time-range.ts';
import { doingOf, pageAmong } from './policy-deps.ts';
import {
  countsView,
  moveView,
  planOf,
  Rollout,
  RolloutDetail,
  RolloutTransition,
  rolloutView,
  StartBody,
} from './rollout-view.ts';

export type RolloutRouteDeps = {
  readonly book: BookService;
  readonly rollouts: RolloutActs;
  readonly looks: Pick<RolloutLooks, 'look'>;
  readonly store: Pick<RolloutStore, 'moves'>;
  readonly cursors: CursorSigner;
  readonly chance: Pick<Chance, 'newId'>;
  readonly now: () => number;
};

const Path = Strict({ id: Uuid });
const tags = ['rollouts'];
const reading = { config: { guard: { scope: 'policies:read' as const } } };
const assigning = { config: { guard: { scope: 'assignments:write' as const } } };
const seen = refusals(401, 403, 404, 422, 429, 503);
const changed = refusals(401, 403, 404, 409, 422, 429, 503);
const ABSENT = refuse('not_found', 'There is no such rollout.');
const RolloutSensor = Type.Object({
  sensor_id: Uuid,
  standing: Type.String({
    description:
      'waiting, offline, unanswered, silent, in_force, rejected, failed, stale or off (enforcement)',
  }),
  last_heartbeat_at: Nullable(Time),
  reason: Nullable(Type.String({ description: 'of the node, why it refuses or fails' })),
});

export type RolloutSensorView = Type.Static<typeof RolloutSensor>;

export function rolloutRoutes(deps: RolloutRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await readingRoutes(deps)(app, {});
    await detailRoutes(deps)(app, {});
    await startRoute(deps)(app, {});
    await wordRoutes(deps)(app, {});
  };
}

function viewOf({ book }: Pick<RolloutRouteDeps, 'book'>, row: RolloutRow) {
  return rolloutView(row, book.book().packs.get(row.next.packId)?.name ?? '');
}

function readingRoutes(deps: RolloutRouteDeps): FastifyPluginAsyncTypebox {
  const { book, looks, cursors } = deps;
  return async (app) => {
    app.get('/rollouts', {
      ...reading,
      schema: {
        operationId: 'listRollouts',
        summary: 'Rollouts, oldest first',
        tags,
        querystring: Strict(PageQuery),
        response: { 200: PageOf(Rollout), ...refusals(401, 403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const rows = [...book.book().rollouts.values()];
        const of = { path: 'rollouts', cursors };
        const page = pageAmong(of, request.query, rows, ({ rolloutId }) => rolloutId);
        if (!page.ok) return sendRefusal(reply, page);
        return pageOf(
          reply,
          page.items.map((one) => viewOf(deps, one)),
          page.next,
        );
      },
    });

    app.get('/rollouts/:id', {
      ...reading,
      schema: {
        operationId: 'getRollout',
        summary: 'One rollout, with what its gates count now',
        tags,
        params: Path,
        response: { 200: RolloutDetail, ...seen },
      },
      handler: async (request, reply) => {
        const row = book.book().rollouts.get(request.params.id);
        if (row === undefined) return sendRefusal(reply, ABSENT);
        const { tally } = await looks.look(row);
        return { ...viewOf(deps, row), counted: countsView(tally) };
      },
    });
  };
}

function detailRoutes({
  book,
  looks,
  store,
  cursors,
}: RolloutRouteDeps): FastifyPluginAsyncTypebox {
  const rowOf = (id: string) => book.book().rollouts.get(id);
  return async (app) => {
    app.get('/rollouts/:id/sensors', {
      ...reading,
      schema: {
        operationId: 'listRolloutSensors',
        summary: 'How each of its sensors stands',
        tags,
        params: Path,
        querystring: Strict(PageQuery),
        response: { 200: PageOf(RolloutSensor), ...seen },
      },
      handler: async (request, reply) => {
        const row = rowOf(request.params.id);
        if (row === undefined) return sendRefusal(reply, ABSENT);
        const { sights, standings } = await looks.look(row);
        const of = { path: `rollouts/${row.rolloutId}/sensors`, cursors };
        const page = pageAmong(of, request.query, sights, ({ sensorId }) => sensorId);
        if (!page.ok) return sendRefusal(reply, page);
        const items = page.items.map(({ sensorId, lastHeartbeatAtMs, report }) => {
          const standing = standings.get(sensorId) ?? 'waiting';
          const isOwn = report?.assignmentId === row.next.assignmentId;
          return {
            ...{ sensor_id: sensorId, standing, reason: isOwn ? report.reason : null },
            last_heartbeat_at: timeTextOrNull(lastHeartbeatAtMs),
          };
        });
        return pageOf(reply, items, page.next);
      },
    });

    app.get('/rollouts/:id/transitions', {
      ...reading,
      schema: {
        operationId: 'listRolloutTransitions',
        summary: 'What moved it, newest first',
        tags,
        params: Path,
        querystring: Strict(PageQuery),
        response: { 200: PageOf(RolloutTransition), ...seen },
      },
      handler: async (request, reply) => {
        const { id: rolloutId } = request.params;
        const { limit = PAGE_ITEMS_DEFAULT, cursor } = request.query;
        if (rowOf(rolloutId) === undefined) return sendRefusal(reply, ABSENT);
        const path = `rollouts/${rolloutId}/transitions`;
        const opened = cursor === undefined ? null : cursors.open(path, null, cursor);
        if (opened?.ok === false) return sendRefusal(reply, opened);
        const before = opened === null ? null : Number(opened.position['n']);
        const rows = await store.moves({ rolloutId, limit: limit + 1, before });
        const items = rows.slice(0, limit).map(moveView);
        const last = items.at(-1);
        const isMore = rows.length > limit && last !== undefined;
        return pageOf(reply, items, isMore ? cursors.seal(path, null, { n: last.sequence }) : null);
      },
    });
  };
}

function startRoute(deps: RolloutRouteDeps): FastifyPluginAsyncTypebox {
  const { rollouts, chance, now } = deps;
  return async (app) => {
    app.post('/rollouts', {
      ...assigning,
      schema: {
        operationId: 'startRollout',
        summary: 'Bring a version to a target in stages, each only after the one before held',
        tags,
        body: StartBody,
        response: { 201: Rollout, ...changed },
      },
      handler: async (request, reply) => {
        const { target, pack_id, version, mode, namespace_scope = null } = request.body;
        const { when_unsupported = 'fail', priority = 0 } = request.body;
        const done = await rollouts.start({
          ...doingOf(request, now),
          rolloutId: chance.newId(),
          next: {
            ...{ assignmentId: chance.newId(), target, packId: pack_id, version, mode },
            ...{ namespaceScope: namespace_scope, whenUnsupported: when_unsupported, priority },
          },
          plan: planOf(request.body),
        });
        if (!done.ok) return sendRefusal(reply, done);
        reply.code(201);
        return viewOf(deps, done.answer);
      },
    });
  };
}

const WORDS = {
  pause: 'Let no further sensor be reached; the gates still count',
  resume: 'Go on: after a pause, a stage that asks, or a gate that failed and holds again',
  abort: 'End it: its sensors return where that was signed, else they keep what they have',
} as const;

function wordRoutes(deps: RolloutRouteDeps): FastifyPluginAsyncTypebox {
  const { rollouts, now } = deps;
  return async (app) => {
    for (const word of ['pause', 'resume', 'abort'] as const) {
      app.post(`/rollouts/:id/${word}`, {
        ...assigning,
        schema: {
          operationId: `${word}Rollout`,
          summary: WORDS[word],
          tags,
          params: Path,
          response: { 200: Rollout, ...changed },
        },
        handler: async (request, reply) => {
          const said = { rolloutId: request.params.id, word };
          const done = await rollouts.say({ ...doingOf(request, now), ...said });
          return done.ok ? viewOf(deps, done.answer) : sendRefusal(reply, done);
        },
      });
    }
  };
}
