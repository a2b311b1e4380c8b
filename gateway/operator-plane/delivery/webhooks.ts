// The resource `webhooks`: where alerts are sent. Admins manage them; a secret goes in, or is told once, and never comes out
// again. decision: D104; invariant: I11, I18
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { WebhookService } from '../../../actors/delivery/webhook-service.ts';
import { nameOfOutcome, verdictOf } from '../../../machines/console/delivery/delivery.rules.ts';
import { refuse } from '../../../machines/errors.ts';
import {
  WEBHOOK_NAME_MAX_CHARS,
  WEBHOOK_ROTATION_DEFAULT_MS,
  WEBHOOK_ROTATION_MAX_MS,
  WEBHOOK_SECRET_MAX_CHARS,
  WEBHOOK_URL_MAX_CHARS,
} from '../../../machines/limits.ts';
import { HOUR_MS } from '../../../machines/units.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { WebhookRow, WebhookStore } from '../../../storage/ports/delivery/webhook-store.ts';
import { hasScope } from '../../access/operator.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { refusals, Strict } from '../plumbing/shapes.ts';
import {
  MadeWebhook,
  Options,
  optionsIn,
  TestResult,
  Webhook,
  webhookView,
} from './webhook-shapes.ts';

const Name = Type.String({ minLength: 1, maxLength: WEBHOOK_NAME_MAX_CHARS });
const Url = Type.String({ minLength: 1, maxLength: WEBHOOK_URL_MAX_CHARS });
const Secret = Type.String({ minLength: 1, maxLength: WEBHOOK_SECRET_MAX_CHARS });
const Path = Strict({ id: Uuid });

export const NewWebhook = Strict({
  webhook_type: Type.String({
    maxLength: 32,
    description: 'generic, slack, discord, teams, pagerduty, opsgenie or thehive',
  }),
  name: Name,
  target_url: Url,
  signing_secret: Type.Optional(Secret),
  options: Type.Optional(Options),
});
export const WebhookChange = Strict({
  revision: Type.Integer({ minimum: 1, description: 'The one that was seen' }),
  name: Type.Optional(Name),
  target_url: Type.Optional(Url),
  signing_secret: Type.Optional(Secret),
  options: Type.Optional(Options),
});
export const Rotation = Strict({
  signing_secret: Type.Optional(Secret),
  overlap_hours: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: WEBHOOK_ROTATION_MAX_MS / HOUR_MS,
      default: WEBHOOK_ROTATION_DEFAULT_MS / HOUR_MS,
      description: '0: at once, which ends a rotation that is under way',
    }),
  ),
});

export type WebhookRouteDeps = {
  readonly service: WebhookService;
  readonly webhooks: Pick<WebhookStore, 'list' | 'get'>;
  readonly now: () => number;
};

/** The routes; `webhooks:read` sees, `webhooks:write` changes. */
export function webhookRoutes(deps: WebhookRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await readRoutes(deps)(app, {});
    await changeRoutes(deps)(app, {});
    await secretRoutes(deps)(app, {});
    await actRoutes(deps)(app, {});
  };
}

function readRoutes(deps: WebhookRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/webhooks', {
      config: { guard: { scope: 'webhooks:read' } },
      schema: {
        operationId: 'listWebhooks',
        summary: 'Every webhook, and how it fares',
        tags: ['webhooks'],
        response: {
          200: Type.Object({ items: Type.Array(Webhook) }),
          ...refusals(401, 403, 429, 503),
        },
      },
      handler: async (request) => ({
        items: (await deps.webhooks.list()).map((row) => viewFor(deps, request, row)),
      }),
    });

    app.get('/webhooks/:id', {
      config: { guard: { scope: 'webhooks:read' } },
      schema: {
        operationId: 'getWebhook',
        summary: 'One webhook',
        tags: ['webhooks'],
        params: Path,
        response: { 200: Webhook, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const row = await deps.webhooks.get(request.params.id);
        return row === null ? sendRefusal(reply, NOT_FOUND) : viewFor(deps, request, row);
      },
    });
  };
}

function changeRoutes(deps: WebhookRouteDeps): FastifyPluginAsyncTypebox {
  const { service } = deps;
  return async (app) => {
    app.post('/webhooks', {
      config: { guard: { scope: 'webhooks:write', fresh: true } },
      schema: {
        operationId: 'createWebhook',
        summary: 'Add a webhook; the secret of a generic one is made here unless it is given',
        tags: ['webhooks'],
        body: NewWebhook,
        response: { 201: MadeWebhook, ...refusals(401, 403, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { webhook_type: type, name, target_url: targetUrl, signing_secret } = request.body;
        const options = optionsIn(request.body.options);
        const made = await service.create({
          ...contextOf(deps, request),
          ...{ type, name, targetUrl, secret: signing_secret, options },
        });
        if (!made.ok) return sendRefusal(reply, made);
        reply.code(201);
        return madeView(deps, request, made);
      },
    });

    app.patch('/webhooks/:id', {
      config: { guard: { scope: 'webhooks:write', fresh: true } },
      schema: {
        operationId: 'changeWebhook',
        summary: 'Change a webhook; its type stays, a new secret counts at once',
        tags: ['webhooks'],
        params: Path,
        body: WebhookChange,
        response: { 200: Webhook, ...refusals(401, 403, 404, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { revision, name, target_url: targetUrl, signing_secret: secret } = request.body;
        const change = { name, targetUrl, secret, options: optionsIn(request.body.options) };
        const changed = await service.change({ ...ofWebhook(deps, request), revision, change });
        return changed.ok ? viewFor(deps, request, changed.webhook) : sendRefusal(reply, changed);
      },
    });

    app.delete('/webhooks/:id', {
      config: { guard: { scope: 'webhooks:write', fresh: true } },
      schema: {
        operationId: 'removeWebhook',
        summary: 'Remove a webhook, and its deliveries with it',
        tags: ['webhooks'],
        params: Path,
        response: { 204: Type.Null(), ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const removed = await service.remove(ofWebhook(deps, request));
        return removed.ok ? reply.code(204).send(null) : sendRefusal(reply, removed);
      },
    });
  };
}

function secretRoutes(deps: WebhookRouteDeps): FastifyPluginAsyncTypebox {
  const { service } = deps;
  return async (app) => {
    app.post('/webhooks/:id/rotate-secret', {
      config: { guard: { scope: 'webhooks:write', fresh: true } },
      schema: {
        operationId: 'rotateWebhookSecret',
        summary: 'Give a webhook another secret; until the overlap ends the old one signs, too',
        tags: ['webhooks'],
        params: Path,
        body: Rotation,
        response: { 200: MadeWebhook, ...refusals(401, 403, 404, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { signing_secret: secret, overlap_hours: hours } = request.body;
        const overlapMs = hours === undefined ? WEBHOOK_ROTATION_DEFAULT_MS : hours * HOUR_MS;
        const made = await service.rotate({ ...ofWebhook(deps, request), secret, overlapMs });
        return made.ok ? madeView(deps, request, made) : sendRefusal(reply, made);
      },
    });
  };
}

function actRoutes(deps: WebhookRouteDeps): FastifyPluginAsyncTypebox {
  const { service } = deps;
  return async (app) => {
    for (const [act, isPaused, operationId, summary] of [
      ['pause', true, 'pauseWebhook', 'Let deliveries to a webhook wait'],
      ['resume', false, 'resumeWebhook', 'Send what waits for a webhook, with a closed breaker'],
    ] as const) {
      app.post(`/webhooks/:id/${act}`, {
        config: { guard: { scope: 'webhooks:write' } },
        schema: {
          operationId,
          summary,
          tags: ['webhooks'],
          params: Path,
          response: { 200: Webhook, ...refusals(401, 403, 404, 409, 422, 429, 503) },
        },
        handler: async (request, reply) => {
          const changed = await service.pause({ ...ofWebhook(deps, request), isPaused });
          return changed.ok ? viewFor(deps, request, changed.webhook) : sendRefusal(reply, changed);
        },
      });
    }

    app.post('/webhooks/:id/test', {
      config: { guard: { scope: 'webhooks:write' } },
      schema: {
        operationId: 'testWebhook',
        summary: 'Send a test in the format of the webhook, now',
        tags: ['webhooks'],
        params: Path,
        response: { 200: TestResult, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const tested = await service.test(ofWebhook(deps, request));
        if (!tested.ok) return sendRefusal(reply, tested);
        const { outcome, status, durationMs, detail } = tested.attempted;
        return {
          is_delivered: verdictOf(outcome) === 'accepted',
          outcome: nameOfOutcome(outcome),
          ...{ status, duration_ms: durationMs, detail },
        };
      },
    });
  };
}

const NOT_FOUND = refuse('not_found', 'There is no such webhook.');

function contextOf({ now }: WebhookRouteDeps, request: FastifyRequest) {
  return { actor: operatorOf(request).actor, from: request.ip, nowMs: now() };
}

function ofWebhook(
  deps: WebhookRouteDeps,
  request: FastifyRequest<{ Params: { readonly id: string } }>,
) {
  return { ...contextOf(deps, request), webhookId: request.params.id };
}

function viewFor(deps: WebhookRouteDeps, request: FastifyRequest, row: WebhookRow): Webhook {
  return webhookView(row, deps.now(), hasScope(operatorOf(request), 'webhooks:write'));
}

function madeView(
  deps: WebhookRouteDeps,
  request: FastifyRequest,
  { webhook, secret }: { readonly webhook: WebhookRow; readonly secret: string | null },
) {
  return { webhook: viewFor(deps, request, webhook), signing_secret: secret };
}
