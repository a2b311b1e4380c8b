// Every route says who may call it. A route without a guard stops the start, so an open door cannot be an oversight.
// invariant: I14
import type { FastifyInstance } from 'fastify';
import { refuse } from '../../machines/errors.ts';
import type { Admitter, Operator } from '../access/api-keys.ts';
import { limited } from '../access/api-keys.ts';
import { budgetHeaders } from '../access/rate-budget.ts';
import { hasScope, type Scope } from '../access/scopes.ts';
import { sendRefusal } from './problem-reply.ts';

export type Guard =
  /** Only with a key that holds the scope. */
  | { readonly scope: Scope }
  /** For everybody; `unmetered` for probes, which must not fail by somebody else's guesses. */
  | { readonly public: true; readonly unmetered?: boolean };

declare module 'fastify' {
  interface FastifyContextConfig {
    guard?: Guard;
  }
  interface FastifyRequest {
    operator: Operator | null;
  }
}

/** Installs the guard on every route registered after it. */
export function installGuard(app: FastifyInstance, admitter: Admitter): void {
  app.decorateRequest('operator', null);
  app.addHook('onRoute', (route) => {
    if (route.config?.guard === undefined) {
      throw new Error(`the route ${String(route.method)} ${route.url} declares no guard`);
    }
  });
  app.addHook('onRequest', async (request, reply) => {
    const guard = request.routeOptions.config.guard;
    // Without a route there is nothing to guard; the answer will be 404 or 405.
    if (guard === undefined || 'public' in guard) {
      if (guard?.unmetered) return undefined;
      const { ok, budget } = await admitter.admitAnonymous(request.ip);
      reply.headers(budgetHeaders('unauthenticated', budget));
      return ok ? undefined : sendRefusal(reply, limited(budget));
    }
    const admission = await admitter.admit(request.headers.authorization, request.ip);
    if (admission.budget !== null) {
      reply.headers(budgetHeaders(admission.budget.name, admission.budget.state));
    }
    if (!admission.result.ok) return sendRefusal(reply, admission.result);
    const { operator } = admission.result;
    request.operator = operator;
    if (!hasScope(operator.scopes, guard.scope)) {
      return sendRefusal(reply, refuse('role_required', `This needs the scope ${guard.scope}.`));
    }
    return undefined;
  });
}

/** The caller of a guarded route. */
export function operatorOf(request: { readonly operator: Operator | null }): Operator {
  if (request.operator === null) throw new Error('a guarded route was reached without a caller');
  return request.operator;
}
