// Every route says who may call it, and it is judged here on every request, before anything of the request is read. A
// route without a guard stops the start, so an open door cannot be an oversight. decision: D36; invariant: I14, I18
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { FRESH_LOGIN_MS } from '../../../machines/console/access/limits.ts';
import { type Refusal, refuse } from '../../../machines/errors.ts';
import { isLoopbackAddress } from '../../../machines/trust/loopback.rules.ts';
import { actsOnOwnedOnly, type Scope } from '../../../machines/trust/roles.rules.ts';
import { type Admitter, limited } from '../../access/admitter.ts';
import { hasScope, type Operator } from '../../access/operator.ts';
import { budgetHeaders } from '../../access/rate-budget.ts';
import { sessionCookieOf } from '../../access/session-cookie.ts';
import { sendRefusal } from './problem-reply.ts';

/** Held by sensor owners for one owned sensor at a time, never for what reaches further. */
const OWNED_ONLY: readonly Scope[] = ['assignments:write'];

export type Guard =
  /**
   * Who holds the scope. `owned`: `params.id` is a sensor, and who acts on owned ones only must own it. `fresh`: a person
   * has shown its credentials within ten minutes; keys have none to show.
   */
  | { readonly scope: Scope; readonly owned?: 'sensor'; readonly fresh?: true }
  /**
   * Any person, with a full session, on what is its own. Keys are refused, but where `keys` lets them in. `local`: and
   * whoever asks from this machine. `fresh`: as above.
   */
  | { readonly self: true; readonly keys?: true; readonly local?: true; readonly fresh?: true }
  /**
   * Any person whose password was right, before the second factor too. Keys are refused. `of`: what the route gives to a
   * session that is not whole yet, the factor or the password; what it lacks must be that.
   */
  | { readonly partial: true; readonly of?: 'factor' | 'password' }
  /**
   * For everybody; `unmetered` for probes, which must not fail by somebody else's guesses. `closedBy`: a parameter of the
   * query that asks for more, which takes a login or this machine.
   */
  | { readonly public: true; readonly unmetered?: boolean; readonly closedBy?: string };

export type GuardDeps = {
  readonly now: () => number;
  readonly admitter: Admitter;
  /** Whether a user owns a sensor, itself or by a team. Rejects with StoreUnavailable. */
  readonly owns: (userId: string, sensorId: string) => Promise<boolean>;
  /** Judges where an unsafe request of a session comes from; null when it comes from the Console's own pages. */
  readonly judgeOrigin: OriginJudge;
  /** Judges where an unsafe request of nobody begins, as a login is; null when no page of another site began it. */
  readonly judgeBeginning: OriginJudge;
};
type OriginJudge = (request: {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}) => Refusal | null;

declare module 'fastify' {
  interface FastifyContextConfig {
    guard?: Guard;
  }
  interface FastifyRequest {
    operator: Operator | null;
  }
}

/** Installs the guard on every route registered after it. */
export function installGuard(app: FastifyInstance, deps: GuardDeps): void {
  const { admitter } = deps;
  app.decorateRequest('operator', null);
  app.addHook('onRoute', ({ method, url, config }) => {
    const guard = config?.guard;
    if (guard === undefined) {
      throw new Error(`the route ${String(method)} ${url} declares no guard`);
    }
    if ('owned' in guard && !url.split('/').includes(':id')) {
      throw new Error(`the route ${String(method)} ${url} guards an owner and names no sensor`);
    }
  });
  app.addHook('onRequest', async (request, reply) => {
    const guard = asAsked(request);
    // Without a route there is nothing to guard; the answer will be 404 or 405.
    if (guard === undefined || 'public' in guard) {
      if (guard?.unmetered) return undefined;
      const { ok, budget } = await admitter.admitAnonymous(request.ip);
      reply.headers(budgetHeaders('unauthenticated', budget));
      const refusal = ok ? deps.judgeBeginning(request) : limited(budget);
      return refusal === null ? undefined : sendRefusal(reply, refusal);
    }
    const { authorization, cookie } = request.headers;
    const { budget, result } = await admitter.admit({ authorization, cookie, address: request.ip });
    if (budget !== null) reply.headers(budgetHeaders(budget.name, budget.state));
    if (!result.ok) return sendRefusal(reply, result);
    request.operator = result.operator;
    const refusal = await judge(deps, guard, request, result.operator);
    return refusal === null ? undefined : sendRefusal(reply, refusal);
  });
}

/** The guard of a request: an open route may have a part that is not, and what is for insiders is open on this machine. */
function asAsked(request: FastifyRequest): Guard | undefined {
  const { guard } = request.routeOptions.config;
  if (guard === undefined) return undefined;
  if ('public' in guard) {
    const { closedBy } = guard;
    const isClosed = closedBy !== undefined && closedBy in (request.query as object);
    return isClosed && !isLocal(request) ? { self: true, keys: true } : guard;
  }
  const isOpen = 'local' in guard && guard.local === true && isLocal(request);
  return isOpen && !hasCredential(request) ? { public: true } : guard;
}

function hasCredential({ headers }: FastifyRequest): boolean {
  return headers.authorization !== undefined || sessionCookieOf(headers.cookie) !== null;
}

/** Whether a request begins on this machine; behind a proxy everybody would seem to. */
function isLocal({ ip, headers }: FastifyRequest): boolean {
  const isPassedOn = headers['x-forwarded-for'] ?? headers['forwarded'] ?? headers['via'];
  return isPassedOn === undefined && isLoopbackAddress(ip);
}

async function judge(
  deps: GuardDeps,
  guard: Exclude<Guard, { readonly public: true }>,
  request: FastifyRequest,
  operator: Operator,
): Promise<Refusal | null> {
  if (operator.kind === 'session') {
    const refusal = deps.judgeOrigin(request);
    if (refusal !== null) return refusal;
  } else if (!('scope' in guard || ('keys' in guard && guard.keys === true))) {
    return refuse('session_required', 'This is for people who are logged in, not for API keys.');
  }
  if ('partial' in guard) return isNext(guard.of, operator) ? null : lacking(operator);
  if (operator.stage !== 'full') return lacking(operator);
  const stale =
    'fresh' in guard && guard.fresh === true ? refusalOfStale(operator, deps.now()) : null;
  if ('self' in guard) return stale;
  if (!hasScope(operator, guard.scope)) {
    return refuse('role_required', `This needs the scope ${guard.scope}.`);
  }
  if (stale !== null) return stale;
  if (!actsOnOwnedOnly(operator.role)) return null;
  if (guard.owned === undefined) {
    return OWNED_ONLY.includes(guard.scope)
      ? refuse('role_required', 'A sensor owner holds this for owned sensors only.')
      : null;
  }
  return (await isOwner(deps, request, operator)) ? null : notOwner();
}

/** Whether a route that makes a session whole is what this one lacks; a whole one may always come again. */
function isNext(of: 'factor' | 'password' | undefined, { stage, need }: Operator): boolean {
  if (of === undefined || stage === 'full') return true;
  return (need === 'password_change') === (of === 'password');
}

function lacking({ need }: Operator): Refusal {
  if (need !== 'password_change') {
    return refuse('second_factor_required', 'This session waits for its second factor.');
  }
  return refuse('password_change_required', 'This password was given; set one of your own first.');
}

/** Why a session may not do what asks for credentials shown lately; null when it may, and for keys. decision: D63 */
export function refusalOfStale(
  { authenticatedAtMs }: Pick<Operator, 'authenticatedAtMs'>,
  nowMs: number,
): Refusal | null {
  if (authenticatedAtMs === null || nowMs - authenticatedAtMs < FRESH_LOGIN_MS) return null;
  return refuse('fresh_login_required', 'This asks for password and second factor again.');
}

async function isOwner(
  { owns }: GuardDeps,
  { params }: FastifyRequest,
  { userId }: Operator,
): Promise<boolean> {
  const { id } = params as { readonly id?: string };
  return userId !== null && id !== undefined && (await owns(userId, id.toLowerCase()));
}

function notOwner(): Refusal {
  return refuse(
    'not_owner',
    'This sensor is neither on your own list nor owned by a team of yours.',
  );
}

/** The caller of a guarded route. */
export function operatorOf(request: { readonly operator: Operator | null }): Operator {
  if (request.operator === null) throw new Error('a guarded route was reached without a caller');
  return request.operator;
}

/** The person who called a route that takes people only. */
export function personOf(request: {
  readonly operator: Operator | null;
}): Operator & { readonly userId: string } {
  const operator = operatorOf(request);
  const { userId } = operator;
  if (operator.kind !== 'session' || userId === null) {
    throw new Error('a route for people was reached by a key');
  }
  return { ...operator, userId };
}
