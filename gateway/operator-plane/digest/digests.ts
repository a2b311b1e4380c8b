// The resource `digests`: what is told once a day, and to whom. Admins manage them. decision: D166; invariant: I11, I18
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { DigestService } from '../../../actors/digest/digest-service.ts';
import { mailOf } from '../../../machines/console/digest/digest-mail.ts';
import { payloadOf } from '../../../machines/console/digest/digest-payload.ts';
import { refuse } from '../../../machines/errors.ts';
import { PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX } from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { DigestRow, DigestStore } from '../../../storage/ports/digest/digest-store.ts';
import { hasScope } from '../../access/operator.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { refusals, Strict } from '../plumbing/shapes.ts';
import {
  DigestChange,
  DigestOut,
  DigestPreview,
  DigestRunOut,
  DigestTestResult,
  digestRunView,
  digestView,
  NewDigest,
  planIn,
} from './digest-shapes.ts';

const Path = Strict({ id: Uuid });
const NOT_FOUND = refuse('not_found', 'There is no such digest.');
const NO_WAY = refuse('digest_refused', 'Some fields cannot be used like this.', {
  errors: [{ pointer: '/mail', detail: 'either mail or webhook says where it goes' }],
});

export type DigestRouteDeps = {
  readonly service: DigestService;
  readonly digests: Pick<DigestStore, 'list' | 'get' | 'runs'>;
  readonly now: () => number;
  /** Something may be due now. */
  readonly wake: () => void;
};

/** The routes; `digests:read` sees, `digests:write` changes. */
export function digestRoutes(deps: DigestRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await readRoutes(deps)(app, {});
    await changeRoutes(deps)(app, {});
    await actRoutes(deps)(app, {});
  };
}

function readRoutes(deps: DigestRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/digests', {
      config: { guard: { scope: 'digests:read' } },
      schema: {
        operationId: 'listDigests',
        summary: 'Every daily digest, and what became of its newest day',
        tags: ['digests'],
        response: {
          200: Type.Object({ items: Type.Array(DigestOut) }),
          ...refusals(401, 403, 429, 503),
        },
      },
      handler: async (request) => {
        const rows = await deps.digests.list();
        return { items: await Promise.all(rows.map((row) => viewFor(deps, request, row))) };
      },
    });
    app.get('/digests/:id', {
      config: { guard: { scope: 'digests:read' } },
      schema: {
        operationId: 'getDigest',
        summary: 'One daily digest',
        tags: ['digests'],
        params: Path,
        response: { 200: DigestOut, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const row = await deps.digests.get(request.params.id);
        return row === null ? sendRefusal(reply, NOT_FOUND) : viewFor(deps, request, row);
      },
    });
    app.get('/digests/:id/runs', {
      config: { guard: { scope: 'digests:read' } },
      schema: {
        operationId: 'listDigestRuns',
        summary: 'The days of a digest, the newest first',
        tags: ['digests'],
        params: Path,
        querystring: Strict({
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_ITEMS_MAX })),
        }),
        response: {
          200: Type.Object({ items: Type.Array(DigestRunOut) }),
          ...refusals(401, 403, 404, 422, 429, 503),
        },
      },
      handler: async (request, reply) => {
        const { id: digestId } = request.params;
        const { limit = PAGE_ITEMS_DEFAULT } = request.query;
        if ((await deps.digests.get(digestId)) === null) return sendRefusal(reply, NOT_FOUND);
        return { items: (await deps.digests.runs({ digestId, limit })).map(digestRunView) };
      },
    });
  };
}

function changeRoutes(deps: DigestRouteDeps): FastifyPluginAsyncTypebox {
  const { service, wake } = deps;
  return async (app) => {
    app.post('/digests', {
      config: { guard: { scope: 'digests:write', fresh: true } },
      schema: {
        operationId: 'createDigest',
        summary: 'Set up a daily digest; its first one is the next that is due',
        tags: ['digests'],
        body: NewDigest,
        response: { 201: DigestOut, ...refusals(401, 403, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const plan = planIn(request.body);
        if (plan === null) return sendRefusal(reply, NO_WAY);
        const { secret } = request.body;
        const made = await service.create({ ...contextOf(deps, request), plan, secret });
        if (!made.ok) return sendRefusal(reply, made);
        reply.code(201);
        return viewFor(deps, request, made.digest);
      },
    });
    app.put('/digests/:id', {
      config: { guard: { scope: 'digests:write', fresh: true } },
      schema: {
        operationId: 'changeDigest',
        summary: 'Put a digest in the place of the one that was seen',
        tags: ['digests'],
        params: Path,
        body: DigestChange,
        response: { 200: DigestOut, ...refusals(401, 403, 404, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const plan = planIn(request.body);
        if (plan === null) return sendRefusal(reply, NO_WAY);
        const { secret, revision } = request.body;
        const changed = await service.change({ ...of(deps, request), plan, secret, revision });
        if (!changed.ok) return sendRefusal(reply, changed);
        wake();
        return viewFor(deps, request, changed.digest);
      },
    });
    app.delete('/digests/:id', {
      config: { guard: { scope: 'digests:write', fresh: true } },
      schema: {
        operationId: 'removeDigest',
        summary: 'Remove a digest and what is known of its days',
        tags: ['digests'],
        params: Path,
        response: { 204: Type.Null(), ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const removed = await service.remove(of(deps, request));
        return removed.ok ? reply.code(204).send(null) : sendRefusal(reply, removed);
      },
    });
  };
}

function actRoutes(deps: DigestRouteDeps): FastifyPluginAsyncTypebox {
  const { service } = deps;
  return async (app) => {
    app.get('/digests/:id/preview', {
      config: { guard: { scope: 'digests:read' } },
      schema: {
        operationId: 'previewDigest',
        summary: 'What would be sent of the last 24 hours; nothing is sent',
        tags: ['digests'],
        params: Path,
        response: { 200: DigestPreview, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { id: digestId } = request.params;
        const made = await service.preview({ digestId, nowMs: deps.now() });
        if (!made.ok) return sendRefusal(reply, made);
        return { ...mailOf(made.digest), payload: { ...payloadOf(made.digest) } };
      },
    });
    app.post('/digests/:id/test', {
      config: { guard: { scope: 'digests:write' } },
      schema: {
        operationId: 'testDigest',
        summary: 'Send the last 24 hours now, marked as a test',
        tags: ['digests'],
        params: Path,
        response: { 200: DigestTestResult, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const tested = await service.test(of(deps, request));
        if (!tested.ok) return sendRefusal(reply, tested);
        const { handed } = tested;
        if (handed.kind !== 'taken') return { is_taken: false, detail: handed.detail };
        return { is_taken: true, detail: handed.note ?? 'The other side took it.' };
      },
    });
  };
}

function contextOf({ now }: DigestRouteDeps, request: FastifyRequest) {
  return { actor: operatorOf(request).actor, from: request.ip, nowMs: now() };
}

function of(deps: DigestRouteDeps, request: FastifyRequest<{ Params: { readonly id: string } }>) {
  return { ...contextOf(deps, request), digestId: request.params.id };
}

async function viewFor({ digests }: DigestRouteDeps, request: FastifyRequest, row: DigestRow) {
  const [last] = await digests.runs({ digestId: row.digestId, limit: 1 });
  return digestView(row, last, hasScope(operatorOf(request), 'digests:write'));
}
