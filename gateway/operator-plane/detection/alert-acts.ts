// What people do with alerts: take them, settle them, give them to somebody, write about them; one, or many at once.
// invariant: I18
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Chance } from '../../../actors/trust/chance.ts';
import { refuse } from '../../../machines/errors.ts';
import { ALERTS_IN_BULK_MAX } from '../../../machines/limits.ts';
import type { AlertAct, AlertStore } from '../../../storage/ports/detection/alert-store.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { refusals, Strict } from '../plumbing/shapes.ts';
import {
  Alert,
  Assignee,
  alertView,
  Bulk,
  BulkResult,
  CommentText,
  Resolution,
} from './alert-shapes.ts';
import { AlertPath, NO_ALERT } from './alerts.ts';

export type AlertActDeps = {
  readonly store: Pick<AlertStore, 'act'>;
  readonly chance: Pick<Chance, 'newId'>;
  readonly now: () => number;
};
const guard = { scope: 'alerts:write' } as const;
const answers = { 200: Alert, ...refusals(401, 403, 404, 409, 422, 429, 503) };
const schemaOf = (operationId: string, summary: string) => ({
  ...{ operationId, summary, tags: ['alerts'], params: AlertPath, response: answers },
});

/** The routes that change. */
export function alertActRoutes(deps: AlertActDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await moveRoutes(deps)(app, {});
    await wordRoutes(deps)(app, {});
    await bulkRoute(deps)(app, {});
  };
}

function moveRoutes(deps: AlertActDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/alerts/:id/acknowledge', {
      config: { guard },
      schema: schemaOf('acknowledgeAlert', 'Take an alert: somebody works on it'),
      handler: (request, reply) => one(deps, request, reply, { act: 'acknowledge' }),
    });
    app.post('/alerts/:id/resolve', {
      config: { guard },
      schema: {
        ...schemaOf('resolveAlert', 'Settle an alert'),
        body: Strict({ resolution: Resolution, comment: Type.Optional(CommentText) }),
      },
      handler: (request, reply) => {
        const { resolution, comment: text } = request.body;
        const act = {
          act: 'resolve',
          resolution,
          ...(text === undefined ? {} : { text }),
        } as const;
        return one(deps, request, reply, act);
      },
    });
    app.post('/alerts/:id/reopen', {
      config: { guard },
      schema: schemaOf('reopenAlert', 'Open a settled alert again, as a new one that names it'),
      handler: (request, reply) =>
        one(deps, request, reply, { act: 'reopen', as: deps.chance.newId() }),
    });
  };
}

function wordRoutes(deps: AlertActDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/alerts/:id/assign', {
      config: { guard },
      schema: {
        ...schemaOf('assignAlert', 'Give an alert to somebody, or to nobody'),
        body: Strict({ assignee: Assignee }),
      },
      handler: (request, reply) =>
        one(deps, request, reply, { act: 'assign', to: request.body.assignee }),
    });
    app.post('/alerts/:id/comments', {
      config: { guard },
      schema: {
        ...schemaOf('commentAlert', 'Write something about an alert'),
        body: Strict({ text: CommentText }),
      },
      handler: (request, reply) =>
        one(deps, request, reply, { act: 'comment', text: request.body.text }),
    });
  };
}

function bulkRoute({ store, now }: AlertActDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/alerts/bulk', {
      config: { guard },
      schema: {
        operationId: 'changeAlerts',
        summary: `Do one thing to many alerts, at most ${ALERTS_IN_BULK_MAX}`,
        tags: ['alerts'],
        body: Bulk,
        response: { 200: BulkResult, ...refusals(401, 403, 422, 429, 503) },
      },
      handler: async (request) => {
        const done = await store.act({
          ...{ actor: operatorOf(request).actor, from: request.ip, nowMs: now() },
          ...{ alertIds: request.body.alert_ids, act: actOf(request.body) },
        });
        return {
          results: done.map(({ alertId: alert_id, result }) =>
            typeof result === 'string'
              ? { alert_id, result, state: null }
              : { alert_id, result: 'ok' as const, state: result.state },
          ),
        };
      },
    });
  };
}

function actOf(body: Bulk): AlertAct {
  if (body.act === 'acknowledge') return { act: 'acknowledge' };
  if (body.act === 'assign') return { act: 'assign', to: body.assignee };
  const { resolution, comment: text } = body;
  return { act: 'resolve', resolution, ...(text === undefined ? {} : { text }) };
}

async function one(
  { store, now }: AlertActDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  act: AlertAct,
) {
  const { id } = request.params as { readonly id: string };
  const [done] = await store.act({
    ...{ actor: operatorOf(request).actor, from: request.ip, nowMs: now(), alertIds: [id], act },
  });
  if (done === undefined || done.result === 'not_found') return sendRefusal(reply, NO_ALERT);
  if (done.result === 'refused') {
    const detail = `An alert in its state cannot be changed like this: ${act.act}.`;
    return sendRefusal(reply, refuse('alert_state_refuses', detail));
  }
  return alertView(done.result);
}
