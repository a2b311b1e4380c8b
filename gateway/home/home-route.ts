// Serves the plain page.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { SystemRouteDeps } from '../operator-plane/system/system-deps.ts';
import { foldLine } from '../operator-plane/trust/enroll-line.ts';
import { HOME_CONTENT_SECURITY_POLICY, renderHome } from './home-page.ts';

const COLUMNS = 80;

export function homeRoute(
  deps: Pick<SystemRouteDeps, 'version' | 'baseUrl' | 'caFingerprint' | 'enrollLine'>,
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
            enrollLine: foldLine(deps.enrollLine(), COLUMNS),
          }),
        );
      },
    });
  };
}
