// The resource `siem-destinations`: where stored events are forwarded to. Admins manage them. decision: D153; invariant: I11,
// I18
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { SiemService } from '../../../actors/siem/siem-service.ts';
import { refuse } from '../../../machines/errors.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { SiemRow, SiemStore } from '../../../storage/ports/siem/siem-store.ts';
import { hasScope } from '../../access/operator.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { refusals, Strict } from '../plumbing/shapes.ts';
import { parseInstant } from '../plumbing/time-range.ts';
import {
  NewSiem,
  SiemChangeBody,
  SiemDestination,
  SiemResume,
  SiemTestResult,
  siemOptionsIn,
  siemView,
} from './siem-shapes.ts';

const Path = Strict({ id: Uuid });
const NOT_FOUND = refuse('not_found', 'There is no such SIEM destination.');

export type SiemRouteDeps = {
  readonly service: SiemService;
  readonly siem: Pick<SiemStore, 'list' | 'get'>;
  readonly now: () => number;
  /** Something may be sent now. */
  readonly wake: () => void;
};

/** The routes; `siem:read` sees, `siem:write` changes. */
export function siemRoutes(deps: SiemRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await readRoutes(deps)(app, {});
    await changeRoutes(deps)(app, {});
    await actRoutes(deps)(app, {});
  };
}

function readRoutes(deps: SiemRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/siem-destinations', {
      config: { guard: { scope: 'siem:read' } },
      schema: {
        operationId: 'listSiemDestinations',
        summary: 'Every SIEM destination, where it stands and how far behind',
        tags: ['siem'],
        response: {
          200: Type.Object({ items: Type.Array(SiemDestination) }),
          ...refusals(401, 403, 429, 503),
        },
      },
      handler: async (request) => ({
        items: (await deps.siem.list()).map((row) => viewFor(deps, request, row)),
      }),
    });
    app.get('/siem-destinations/:id', {
      config: { guard: { scope: 'siem:read' } },
      schema: {
        operationId: 'getSiemDestination',
        summary: 'One SIEM destination',
        tags: ['siem'],
        params: Path,
        response: { 200: SiemDestination, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const row = await deps.siem.get(request.params.id);
        return row === null ? sendRefusal(reply, NOT_FOUND) : viewFor(deps, request, row);
      },
    });
  };
}

function changeRoutes(deps: SiemRouteDeps): FastifyPluginAsyncTypebox {
  const { service, wake } = deps;
  return async (app) => {
    app.post('/siem-destinations', {
      config: { guard: { scope: 'siem:write', fresh: true } },
      schema: {
        operationId: 'createSiemDestination',
        summary: 'Forward events to a SIEM from now on, or from an earlier instant',
        tags: ['siem'],
        body: NewSiem,
        response: { 201: SiemDestination, ...refusals(401, 403, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { kind, name, target_url: targetUrl, token = null, filter = '' } = request.body;
        const context = contextOf(deps, request);
        const made = await service.create({
          ...{ ...context, kind, name, targetUrl, token, filter },
          startMs: instantOf(request.body.start_at, context.nowMs) ?? undefined,
          options: siemOptionsIn(request.body.options),
        });
        if (!made.ok) return sendRefusal(reply, made);
        wake();
        reply.code(201);
        return viewFor(deps, request, made.destination);
      },
    });
    app.patch('/siem-destinations/:id', {
      config: { guard: { scope: 'siem:write', fresh: true } },
      schema: {
        operationId: 'changeSiemDestination',
        summary: 'Change a SIEM destination; its kind stays, and so does where it stands',
        tags: ['siem'],
        params: Path,
        body: SiemChangeBody,
        response: { 200: SiemDestination, ...refusals(401, 403, 404, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { revision, name, target_url: targetUrl, token, filter } = request.body;
        const change = {
          name,
          targetUrl,
          token,
          filter,
          options: siemOptionsIn(request.body.options),
        };
        const changed = await service.change({ ...of(deps, request), revision, change });
        return answer(deps, { request, reply }, changed);
      },
    });
    app.delete('/siem-destinations/:id', {
      config: { guard: { scope: 'siem:write', fresh: true } },
      schema: {
        operationId: 'removeSiemDestination',
        summary: 'Remove a SIEM destination',
        tags: ['siem'],
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

function actRoutes(deps: SiemRouteDeps): FastifyPluginAsyncTypebox {
  const { service, wake } = deps;
  return async (app) => {
    app.post('/siem-destinations/:id/pause', {
      config: { guard: { scope: 'siem:write' } },
      schema: {
        operationId: 'pauseSiemDestination',
        summary: 'Forward nothing; where it stands is kept',
        tags: ['siem'],
        params: Path,
        response: { 200: SiemDestination, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) =>
        answer(deps, { request, reply }, await service.pause(of(deps, request))),
    });
    app.post('/siem-destinations/:id/resume', {
      config: { guard: { scope: 'siem:write' } },
      schema: {
        operationId: 'resumeSiemDestination',
        summary: 'Forward on, or again from an earlier instant',
        tags: ['siem'],
        params: Path,
        body: SiemResume,
        response: { 200: SiemDestination, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const fromMs = instantOf(request.body.start_at, deps.now());
        const resumed = await service.resume({ ...of(deps, request), fromMs });
        if (resumed.ok) wake();
        return answer(deps, { request, reply }, resumed);
      },
    });
    app.post('/siem-destinations/:id/test', {
      config: { guard: { scope: 'siem:write' } },
      schema: {
        operationId: 'testSiemDestination',
        summary: 'Send one test event now',
        tags: ['siem'],
        params: Path,
        response: { 200: SiemTestResult, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const tested = await service.test(of(deps, request));
        if (!tested.ok) return sendRefusal(reply, tested);
        const { outcome, status, durationMs, detail } = tested.sent;
        const isAccepted = outcome.kind === 'accepted' && outcome.refused === 0;
        return { is_accepted: isAccepted, status, duration_ms: durationMs, detail };
      },
    });
  };
}

function answer(
  deps: SiemRouteDeps,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  changed: Awaited<ReturnType<SiemService['pause']>>,
) {
  return changed.ok ? viewFor(deps, request, changed.destination) : sendRefusal(reply, changed);
}

function contextOf({ now }: SiemRouteDeps, request: FastifyRequest) {
  return { actor: operatorOf(request).actor, from: request.ip, nowMs: now() };
}

function of(deps: SiemRouteDeps, request: FastifyRequest<{ Params: { readonly id: string } }>) {
  return { ...contextOf(deps, request), destinationId: request.params.id };
}

function viewFor(deps: SiemRouteDeps, request: FastifyRequest, row: SiemRow) {
  return siemView(row, deps.now(), hasScope(operatorOf(request), 'siem:write'));
}

function instantOf(text: string | undefined, nowMs: number): number | null {
  return text === undefined ? null : parseInstant(text, nowMs);
}
