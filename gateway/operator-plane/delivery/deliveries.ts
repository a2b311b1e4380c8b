// The resource `deliveries`: every alert on its way to a webhook, every attempt, and sending again. invariant: I18
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { refuse } from '../../../machines/errors.ts';
import { DELIVERIES_REPLAYED_MAX, PAGE_ITEMS_DEFAULT } from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { DeliveryStore } from '../../../storage/ports/delivery/delivery-store.ts';
import type { WebhookStore } from '../../../storage/ports/delivery/webhook-store.ts';
import { hasScope } from '../../access/operator.ts';
import type { CursorSigner } from '../plumbing/cursor.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { pageOf } from '../plumbing/pages.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { PageOf, PageQuery, refusals, Strict } from '../plumbing/shapes.ts';
import { attemptView, Delivery, DeliveryWithAttempts, deliveryView } from './webhook-shapes.ts';

const Path = Strict({ id: Uuid });
const Replayed = Type.Object({ replayed: Type.Integer() });
const LIST = 'deliveries';
const NO_DELIVERY = refuse('not_found', 'There is no such delivery.');

export type DeliveryRouteDeps = {
  readonly deliveries: Pick<DeliveryStore, 'list' | 'get' | 'replay' | 'replayDead'>;
  readonly webhooks: Pick<WebhookStore, 'get'>;
  readonly cursors: CursorSigner;
  readonly now: () => number;
  /** Something is due at once. */
  readonly wake: () => void;
};

/** The routes. */
export function deliveryRoutes(deps: DeliveryRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await readRoutes(deps)(app, {});
    await replayRoutes(deps)(app, {});
  };
}

function readRoutes(deps: DeliveryRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/deliveries', {
      config: { guard: { scope: 'webhooks:read' } },
      schema: {
        operationId: 'listDeliveries',
        summary: 'Deliveries, newest first',
        tags: ['deliveries'],
        querystring: Strict({
          ...PageQuery,
          webhook_id: Type.Optional(Uuid),
          state: Type.Optional(Type.Enum(['waiting', 'sending', 'delivered', 'folded', 'dead'])),
        }),
        response: { 200: PageOf(Delivery), ...refusals(400, 401, 403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { limit = PAGE_ITEMS_DEFAULT, cursor, webhook_id: webhookId, state } = request.query;
        const filter = { webhookId: webhookId ?? null, state: state ?? null };
        const opened = cursor === undefined ? null : deps.cursors.open(LIST, filter, cursor);
        if (opened !== null && !opened.ok) return sendRefusal(reply, opened);
        const before = opened === null ? null : String(opened.position['id']);
        const rows = await deps.deliveries.list({ webhookId, state, limit: limit + 1, before });
        const items = rows.slice(0, limit).map(deliveryView);
        const last = items.at(-1);
        const next =
          rows.length > limit && last !== undefined
            ? deps.cursors.seal(LIST, filter, { id: last.delivery_id })
            : null;
        return pageOf(reply, items, next);
      },
    });

    app.get('/deliveries/:id', {
      config: { guard: { scope: 'webhooks:read' } },
      schema: {
        operationId: 'getDelivery',
        summary: 'One delivery with its attempts',
        tags: ['deliveries'],
        params: Path,
        response: { 200: DeliveryWithAttempts, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const found = await deps.deliveries.get(request.params.id);
        if (found === null) return sendRefusal(reply, NO_DELIVERY);
        const isWhole = hasScope(operatorOf(request), 'webhooks:write');
        return {
          delivery: deliveryView(found.delivery),
          tried: found.attempts.map((one) => attemptView(one, isWhole)),
          folded: [...found.folded],
        };
      },
    });
  };
}

function replayRoutes(deps: DeliveryRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/deliveries/:id/replay', {
      config: { guard: { scope: 'webhooks:write' } },
      schema: {
        operationId: 'replayDelivery',
        summary: 'Send a delivery again that was delivered or is dead',
        tags: ['deliveries'],
        params: Path,
        response: { 202: Delivery, ...refusals(401, 403, 404, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const replayed = await deps.deliveries.replay({
          ...{ deliveryId: request.params.id, nowMs: deps.now() },
          ...{ actor: operatorOf(request).actor, from: request.ip },
        });
        if (replayed === 'not_found') return sendRefusal(reply, NO_DELIVERY);
        if (replayed === 'not_ended') {
          const detail = 'Only what was delivered or is dead can be sent again.';
          return sendRefusal(reply, refuse('delivery_not_ended', detail));
        }
        deps.wake();
        reply.code(202);
        return deliveryView(replayed);
      },
    });

    app.post('/webhooks/:id/replay-dead', {
      config: { guard: { scope: 'webhooks:write' } },
      schema: {
        operationId: 'replayDeadDeliveries',
        summary: `Send the dead deliveries of a webhook again, at most ${DELIVERIES_REPLAYED_MAX}`,
        tags: ['webhooks'],
        params: Path,
        response: { 202: Replayed, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { id: webhookId } = request.params;
        if ((await deps.webhooks.get(webhookId)) === null) {
          return sendRefusal(reply, refuse('not_found', 'There is no such webhook.'));
        }
        const replayed = await deps.deliveries.replayDead({
          ...{ webhookId, nowMs: deps.now(), limit: DELIVERIES_REPLAYED_MAX },
          ...{ actor: operatorOf(request).actor, from: request.ip },
        });
        deps.wake();
        reply.code(202);
        return { replayed };
      },
    });
  };
}
