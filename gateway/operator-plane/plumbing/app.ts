// The operator API: a Fastify application that never listens itself; the one TLS listener hands requests to it through
// the bridge. Strict validation, one guard per route, one problem encoder. decision: D16
import { randomUUID } from 'node:crypto';
import { fastifyCookie } from '@fastify/cookie';
import swagger from '@fastify/swagger';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyInstance } from 'fastify';
import { API_KEY_ENDS_SOON_MS, OPERATOR_BODY_MAX_BYTES } from '../../../machines/limits.ts';
import { isShallow } from '../../../machines/wire/json-depth.ts';
import type { Operator } from '../../access/operator.ts';
import { SECURITY_HEADERS } from '../../listener/respond.ts';
import { auditRefusals } from '../audit/audit-refusals.ts';
import type { OperatorPlaneDeps } from './deps.ts';
import { installGuard } from './guard.ts';
import { describeApi } from './openapi.ts';
import { refusalOf, sendRefusal, setProblemHandlers } from './problem-reply.ts';
import { parseQuery } from './query-string.ts';
import { currentScope } from './request-scope.ts';
import { createRouteTable } from './route-table.ts';
import { timeText } from './time-range.ts';
import { compileValidator } from './validator.ts';

export const API_PREFIX = '/api/v2';

/** Builds the application; rejects when a route is not sound (no guard, broken schema). */
export async function createOperatorPlane(deps: OperatorPlaneDeps): Promise<FastifyInstance> {
  const app = Fastify({
    logger: false,
    bodyLimit: OPERATOR_BODY_MAX_BYTES,
    genReqId: () => currentScope()?.requestId ?? randomUUID(),
    requestIdHeader: false,
    routerOptions: { querystringParser: parseQuery },
    frameworkErrors: (error, _request, reply) => sendRefusal(reply, refusalOf(error)),
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.setValidatorCompiler(compileValidator);
  // Answers are written as they are: a serializer that drops unlisted fields would hide mistakes.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  readJsonOnly(app);
  const table = createRouteTable(app);
  setProblemHandlers(app, deps.logger, table.allowedAt);
  // Loads the library that reads and writes cookies; the guard and the routes say which.
  await app.register(fastifyCookie, { hook: false });
  await app.register(swagger, describeApi(deps.version.version));
  installGuard(app, deps.guard);
  auditRefusals(app, deps);
  answerHeaders(app, deps);
  // Megabytes that stay as they are once every route is known; writing them anew would hold everybody up.
  let description: string | null = null;
  await app.register(
    async (api) => {
      // Called, not registered: no group needs a context of its own, and making hundreds is half of a start.
      for (const routes of deps.routes) await routes(api, {});
      api.get('/openapi.json', {
        config: { guard: { self: true, keys: true, local: true } },
        schema: { hide: true },
        handler: async (_request, reply) => {
          description ??= JSON.stringify(app.swagger());
          return reply.type('application/json; charset=utf-8').send(description);
        },
      });
    },
    { prefix: API_PREFIX },
  );
  for (const page of deps.pages) await app.register(page);
  await app.ready();
  return app;
}

function readJsonOnly(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (!isShallow(body as string)) done(new SyntaxError('nested too deeply'));
    else if (body === '') done(null, undefined);
    else void parse(request, body as string, done);
  });
  // A route with a body schema whose fields are all optional may be called without one.
  app.addHook('preValidation', async (request) => {
    if (request.routeOptions.schema?.body !== undefined) request.body ??= {};
  });
}

/** As RFC 9111 lays a warning out: 299 is one that stays until something is done. */
function warningOf(text: string): string {
  return `299 service-console "${text.replaceAll(/[^ !#-[\]-~]/g, '')}"`;
}

/** Who uses a key hears in time that it ends. */
function noticesOfKey({ endsAtMs }: Pick<Operator, 'endsAtMs'>, nowMs: number): readonly string[] {
  if (endsAtMs === null || endsAtMs - nowMs > API_KEY_ENDS_SOON_MS) return [];
  return [`This API key ends at ${timeText(endsAtMs)}; make another before that.`];
}

function answerHeaders(
  app: FastifyInstance,
  deps: Pick<OperatorPlaneDeps, 'metrics' | 'notices' | 'now'>,
): void {
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', String(request.id));
    // The listener sets these on what it sends itself; a streamed answer carries them from here.
    for (const [name, value] of SECURITY_HEADERS) {
      if (reply.getHeader(name) === undefined) reply.header(name, value);
    }
    // Only who was let in is told how this Console stands.
    const { operator } = request;
    const notices =
      operator === null ? [] : [...deps.notices(), ...noticesOfKey(operator, deps.now())];
    if (notices.length > 0) reply.header('warning', notices.map(warningOf).join(', '));
    if (reply.getHeader('cache-control') === undefined) reply.header('cache-control', 'no-store');
  });
  app.addHook('onResponse', async (request, reply) => {
    deps.metrics.observeRequest({
      method: request.method,
      route: request.routeOptions.url ?? 'none',
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1_000,
    });
  });
}
