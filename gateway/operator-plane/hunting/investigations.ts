// The resource `investigations`: what belongs to one suspicion, in the order of time, until it has its outcome.
// decision: D143
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import { type Investigations, NO_INVESTIGATION } from '../../../actors/hunting/investigations.ts';
import type { InvestigationEvent } from '../../../machines/console/hunting/investigation.machine.ts';
import { refuse } from '../../../machines/errors.ts';
import { PAGE_ITEMS_DEFAULT } from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { UserStore } from '../../../storage/ports/access/users.ts';
import type { CursorSigner } from '../plumbing/cursor.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { pageOf } from '../plumbing/pages.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { PageOf, PageQuery, refusals, Strict } from '../plumbing/shapes.ts';
import {
  Closing,
  HandOver,
  InvestigationChange,
  InvestigationView,
  investigationView,
  NewInvestigation,
  Said,
} from './investigation-shapes.ts';

export const InvestigationPath = Strict({ id: Uuid });
const LIST = 'investigations';
const MOVED = { 200: InvestigationView, ...refusals(401, 403, 404, 409, 422, 429, 503) };

export type InvestigationRouteDeps = {
  readonly investigations: Investigations;
  readonly users: Pick<UserStore, 'findByEmail'>;
  readonly cursors: CursorSigner;
  readonly now: () => number;
};

/** The routes; `investigations:read` sees, `investigations:write` changes. */
export function investigationRoutes(deps: InvestigationRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await readRoutes(deps)(app, {});
    await changeRoutes(deps)(app, {});
    await moveRoutes(deps)(app, {});
    await handOverRoute(deps)(app, {});
  };
}

function readRoutes(deps: InvestigationRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/investigations', {
      config: { guard: { scope: 'investigations:read' } },
      schema: {
        operationId: 'listInvestigations',
        summary: 'Investigations, newest first',
        tags: ['investigations'],
        querystring: Strict(PageQuery),
        response: { 200: PageOf(InvestigationView), ...refusals(400, 401, 403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { limit = PAGE_ITEMS_DEFAULT, cursor } = request.query;
        const opened = cursor === undefined ? null : deps.cursors.open(LIST, {}, cursor);
        if (opened !== null && !opened.ok) return sendRefusal(reply, opened);
        const before = opened === null ? null : String(opened.position['id']);
        const rows = await deps.investigations.list({ limit: limit + 1, before });
        const items = rows.slice(0, limit).map(investigationView);
        const last = items.at(-1);
        const next =
          rows.length > limit && last !== undefined
            ? deps.cursors.seal(LIST, {}, { id: last.investigation_id })
            : null;
        return pageOf(reply, items, next);
      },
    });

    app.get('/investigations/:id', {
      config: { guard: { scope: 'investigations:read' } },
      schema: {
        operationId: 'getInvestigation',
        summary: 'One investigation',
        tags: ['investigations'],
        params: InvestigationPath,
        response: { 200: InvestigationView, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const row = await deps.investigations.get(request.params.id);
        return row === null ? sendRefusal(reply, NO_INVESTIGATION) : investigationView(row);
      },
    });
  };
}

function changeRoutes(deps: InvestigationRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/investigations', {
      config: { guard: { scope: 'investigations:write' } },
      schema: {
        operationId: 'createInvestigation',
        summary: 'Begin an investigation',
        tags: ['investigations'],
        body: NewInvestigation,
        response: { 201: InvestigationView, ...refusals(401, 403, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { name, summary = '', severity = 'medium' } = request.body;
        const made = await deps.investigations.create({
          ...investigationContext(deps, request),
          content: { name, summary, severity },
        });
        if (!made.ok) return sendRefusal(reply, made);
        reply.code(201);
        return investigationView(made.investigation);
      },
    });

    app.patch('/investigations/:id', {
      config: { guard: { scope: 'investigations:write' } },
      schema: {
        operationId: 'changeInvestigation',
        summary: 'Change what an investigation says of itself',
        tags: ['investigations'],
        params: InvestigationPath,
        body: InvestigationChange,
        response: MOVED,
      },
      handler: async (request, reply) => {
        const { revision, ...content } = request.body;
        const context = investigationContext(deps, request);
        const { id } = request.params;
        const done = await deps.investigations.change({ ...context, id, revision, content });
        return done.ok ? investigationView(done.investigation) : sendRefusal(reply, done);
      },
    });
  };
}

function moveRoutes(deps: InvestigationRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    for (const [act, operationId, summary, type] of [
      ['take', 'takeInvestigation', 'Look at it yourself', 'investigation.taken'],
      ['reopen', 'reopenInvestigation', 'Open a closed one again', 'investigation.reopened'],
    ] as const) {
      app.post(`/investigations/:id/${act}`, {
        config: { guard: { scope: 'investigations:write' } },
        schema: {
          operationId,
          summary,
          tags: ['investigations'],
          params: InvestigationPath,
          body: Said,
          response: MOVED,
        },
        handler: async (request, reply) => {
          const by = operatorOf(request).actor;
          const event = type === 'investigation.taken' ? { type, by } : { type };
          const done = await deps.investigations.move({
            ...moveOf(deps, request, event),
            text: request.body.text ?? '',
          });
          return done.ok ? investigationView(done.investigation) : sendRefusal(reply, done);
        },
      });
    }

    app.post('/investigations/:id/close', {
      config: { guard: { scope: 'investigations:write' } },
      schema: {
        operationId: 'closeInvestigation',
        summary: 'Close it with its outcome; it is read only then',
        tags: ['investigations'],
        params: InvestigationPath,
        body: Closing,
        response: MOVED,
      },
      handler: async (request, reply) => {
        const { outcome, text = '' } = request.body;
        const event = { type: 'investigation.closed', atMs: deps.now(), outcome } as const;
        const done = await deps.investigations.move({ ...moveOf(deps, request, event), text });
        return done.ok ? investigationView(done.investigation) : sendRefusal(reply, done);
      },
    });
  };
}

function handOverRoute(deps: InvestigationRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/investigations/:id/hand-over', {
      config: { guard: { scope: 'investigations:write' } },
      schema: {
        operationId: 'handOverInvestigation',
        summary: 'Give it to somebody else, who takes it then',
        tags: ['investigations'],
        params: InvestigationPath,
        body: HandOver,
        response: MOVED,
      },
      handler: async (request, reply) => {
        const { to: email, text = '' } = request.body;
        const user = await deps.users.findByEmail(email);
        if (user === null) return sendRefusal(reply, NO_ACCOUNT);
        const by = operatorOf(request).actor;
        const to = `user:${user.email}`;
        const event = { type: 'investigation.handed_over', by, to } as const;
        const done = await deps.investigations.move({ ...moveOf(deps, request, event), text });
        return done.ok ? investigationView(done.investigation) : sendRefusal(reply, done);
      },
    });
  };
}

const NO_ACCOUNT = refuse('schema_violation', 'There is no such account.', {
  errors: [{ pointer: '/to', detail: 'is no e-mail of an account' }],
});

export function investigationContext(
  { now }: Pick<InvestigationRouteDeps, 'now'>,
  request: FastifyRequest,
) {
  return { actor: operatorOf(request).actor, from: request.ip, nowMs: now() };
}

function moveOf(
  deps: InvestigationRouteDeps,
  request: FastifyRequest<{ Params: { readonly id: string } }>,
  event: InvestigationEvent,
) {
  return { ...investigationContext(deps, request), id: request.params.id, event };
}
