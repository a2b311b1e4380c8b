// Serves the plain page.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { OperatorPlaneDeps } from '../operator-plane/plumbing/deps.ts';
import { HOME_CONTENT_SECURITY_POLICY, renderHome } from './home-page.ts';

export function homeRoute(
  deps: Pick<OperatorPlaneDeps, 'version' | 'baseUrl' | 'caFingerprint'>,
): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/', {
      config: { guard: { public: true } },
      schema: { hide: true },
      handler: async (_request, reply) => {
        reply.header('content-type', 'text/html; charset=utf-8');
        reply.header('content-security-policy', HOME_CONTENT_SECURITY_POLICY);
        return reply.send(
          renderHome({
            ...deps.version,
            baseUrl: deps.baseUrl(),
            caFingerprint: deps.caFingerprint(),
          }),
        );
      },
    });
  };
}
