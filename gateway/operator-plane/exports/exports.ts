// The resource `exports`: where days of the event store go as Parquet files, and how each of them fares. Operators see it,
// admins set it up; the secret goes in and never comes out. decision: D157, D158; invariant: I11, I18
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { ExportService } from '../../../actors/exports/export-service.ts';
import {
  dayOf,
  EXPORT_TABLES,
  exportIdOf,
  tableDayOf,
} from '../../../machines/console/exports/export-run.rules.ts';
import { refuse } from '../../../machines/errors.ts';
import { PAGE_ITEMS_DEFAULT } from '../../../machines/limits.ts';
import type { ExportStore } from '../../../storage/ports/exports/export-store.ts';
import type { CursorSigner } from '../plumbing/cursor.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { pageOf } from '../plumbing/pages.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, PageOf, PageQuery, refusals, Strict } from '../plumbing/shapes.ts';
import {
  ExportRun,
  ExportRunWhole,
  ExportTargetIn,
  ExportTargetOut,
  ExportTestResult,
  runView,
  targetIn,
  targetView,
  wholeView,
} from './export-shapes.ts';

const ID_MAX_CHARS = 64;
const Path = Strict({
  id: Type.String({
    maxLength: ID_MAX_CHARS,
    description: 'table and day as runtime_events.2026-01-31',
  }),
});
const LIST = 'exports';
const NO_RUN = refuse('not_found', 'There is no export of such a table and day.');
const STATES = ['waiting', 'counting', 'copying', 'sealing', 'done', 'dead'] as const;

export type ExportRouteDeps = {
  readonly service: ExportService;
  readonly exports: Pick<ExportStore, 'target' | 'list' | 'get'>;
  readonly cursors: CursorSigner;
  readonly now: () => number;
  /** Something is due at once. */
  readonly wake: () => void;
};

/** The routes; `exports:read` sees, `exports:write` changes. */
export function exportRoutes(deps: ExportRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await targetRoutes(deps)(app, {});
    await runRoutes(deps)(app, {});
    await orderRoute(deps)(app, {});
  };
}

function targetRoutes(deps: ExportRouteDeps): FastifyPluginAsyncTypebox {
  const { service } = deps;
  return async (app) => {
    app.get('/exports/target', {
      config: { guard: { scope: 'exports:read' } },
      schema: {
        operationId: 'getExportTarget',
        summary: 'Where exports go; null: nobody has said so',
        tags: ['exports'],
        response: {
          200: Type.Object({ target: Nullable(ExportTargetOut) }),
          ...refusals(401, 403, 429, 503),
        },
      },
      handler: async () => {
        const target = await deps.exports.target();
        return { target: target === null ? null : targetView(target) };
      },
    });

    app.put('/exports/target', {
      config: { guard: { scope: 'exports:write', fresh: true } },
      schema: {
        operationId: 'putExportTarget',
        summary:
          'Say where exports go, whole; a bucket of an S3 service or a folder of the Console',
        tags: ['exports'],
        body: ExportTargetIn,
        response: { 200: ExportTargetOut, ...refusals(401, 403, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const target = targetIn(request.body, dayOf(deps.now()));
        if (target === null) {
          const errors = [{ pointer: '/s3', detail: 'is needed for a bucket' }];
          return sendRefusal(
            reply,
            refuse('export_target_refused', 'The bucket is missing.', { errors }),
          );
        }
        const { revision, s3 } = request.body;
        const secret = s3?.secret_access_key;
        const input = { ...contextOf(deps, request), revision, target, secret };
        const put = await service.putTarget(input);
        if (!put.ok) return sendRefusal(reply, put);
        deps.wake();
        return targetView(put.target);
      },
    });

    app.post('/exports/target/test', {
      config: { guard: { scope: 'exports:write' } },
      schema: {
        operationId: 'testExportTarget',
        summary: 'Write, read back and remove one small object',
        tags: ['exports'],
        response: { 200: ExportTestResult, ...refusals(401, 403, 409, 429, 503) },
      },
      handler: async (request, reply) => {
        const done = await service.test(contextOf(deps, request));
        if (!done.ok) return sendRefusal(reply, done);
        return { is_written: done.tested.isWritten, detail: done.tested.detail };
      },
    });
  };
}

function runRoutes(deps: ExportRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/exports', {
      config: { guard: { scope: 'exports:read' } },
      schema: {
        operationId: 'listExports',
        summary: 'Exported days and those on their way, the newest first',
        tags: ['exports'],
        querystring: Strict({
          ...PageQuery,
          table: Type.Optional(Type.Enum([...EXPORT_TABLES])),
          state: Type.Optional(Type.Enum([...STATES])),
        }),
        response: { 200: PageOf(ExportRun), ...refusals(400, 401, 403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { limit = PAGE_ITEMS_DEFAULT, cursor, table, state } = request.query;
        const filter = { table: table ?? null, state: state ?? null };
        const opened = cursor === undefined ? null : deps.cursors.open(LIST, filter, cursor);
        if (opened !== null && !opened.ok) return sendRefusal(reply, opened);
        const before = opened === null ? null : tableDayOf(String(opened.position['id']));
        const rows = await deps.exports.list({ table, state, limit: limit + 1, before });
        const shown = rows.slice(0, limit);
        const last = shown.at(-1);
        const next =
          rows.length > limit && last !== undefined
            ? deps.cursors.seal(LIST, filter, { id: exportIdOf(last) })
            : null;
        return pageOf(reply, shown.map(runView), next);
      },
    });

    app.get('/exports/:id', {
      config: { guard: { scope: 'exports:read' } },
      schema: {
        operationId: 'getExport',
        summary: 'One day of one table with its objects',
        tags: ['exports'],
        params: Path,
        response: { 200: ExportRunWhole, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const of = tableDayOf(request.params.id);
        const found = of === null ? null : await deps.exports.get(of);
        return found === null ? sendRefusal(reply, NO_RUN) : wholeView(found);
      },
    });
  };
}

function orderRoute(deps: ExportRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/exports/:id/run', {
      config: { guard: { scope: 'exports:write' } },
      schema: {
        operationId: 'runExport',
        summary: 'Have a day exported again from the start; its objects are replaced',
        tags: ['exports'],
        params: Path,
        response: { 202: ExportRun, ...refusals(401, 403, 404, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const of = tableDayOf(request.params.id);
        if (of === null) return sendRefusal(reply, NO_RUN);
        const ordered = await deps.service.order({ ...contextOf(deps, request), ...of });
        if (!ordered.ok) return sendRefusal(reply, ordered);
        deps.wake();
        reply.code(202);
        return runView(ordered.run);
      },
    });
  };
}

function contextOf({ now }: ExportRouteDeps, request: FastifyRequest) {
  return { actor: operatorOf(request).actor, from: request.ip, nowMs: now() };
}
