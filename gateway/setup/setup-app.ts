// The only application of a Console without a configuration: the first run, its page, and for everything else the answer
// that it is not set up yet, to sensors and people alike. decision: D42; invariant: I14
import { randomUUID } from 'node:crypto';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Logger } from '../../actors/runtime/logger.ts';
import { refuse } from '../../machines/errors.ts';
import { OPERATOR_BODY_MAX_BYTES, RETRY_AFTER_STORE_MS } from '../../machines/limits.ts';
import { isShallow } from '../../machines/wire/json-depth.ts';
import { refusalOf, sendRefusal } from '../operator-plane/plumbing/problem-reply.ts';
import { currentScope } from '../operator-plane/plumbing/request-scope.ts';
import { compileValidator } from '../operator-plane/plumbing/validator.ts';
import { renderSetupHint, SETUP_HINT_POLICY } from './setup-hint.ts';
import { type SetupRoutesDeps, setupRoutes } from './setup-routes.ts';

/** Builds the application; it listens only through the bridge. */
export async function createSetupApp(
  deps: SetupRoutesDeps & {
    readonly logger: Logger;
    /** The CA to pin. Whoever takes it compares its fingerprint with the printed one. */
    readonly caPem: string;
  },
): Promise<FastifyInstance> {
  const app = Fastify({
    logger: false,
    bodyLimit: OPERATOR_BODY_MAX_BYTES,
    genReqId: () => currentScope()?.requestId ?? randomUUID(),
    requestIdHeader: false,
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (!isShallow(body as string)) done(new SyntaxError('nested too deeply'));
    else if (body === '') done(null, undefined);
    else void parse(request, body as string, done);
  });
  app.setErrorHandler((error, request, reply) => {
    const refusal = refusalOf(error);
    if (refusal.code === 'internal') {
      deps.logger.error({ path: request.routeOptions.url, error: String(error) }, 'setup failed');
    }
    return sendRefusal(reply, refusal);
  });
  app.setNotFoundHandler((_request, reply) =>
    sendRefusal(
      reply,
      refuse('setup_required', 'Open /setup with the code that was printed on the terminal.', {
        retryAfterMs: RETRY_AFTER_STORE_MS,
      }),
    ),
  );
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', String(request.id));
    reply.header('cache-control', 'no-store');
  });
  await app.register(setupRoutes(deps), { prefix: '/api/v2' });
  app.get('/setup', async (_request, reply) =>
    reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', SETUP_HINT_POLICY)
      .send(renderSetupHint()),
  );
  app.get('/ca.pem', async (_request, reply) =>
    reply.header('content-type', 'application/x-pem-file').send(deps.caPem),
  );
  app.get('/livez', async () => ({ status: 'alive', setup: true }));
  app.get('/readyz', async (_request, reply) =>
    reply.code(503).send({ status: 'not_ready', because: 'setup' }),
  );
  await app.ready();
  return app;
}
