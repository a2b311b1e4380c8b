// Which methods each path knows, so that a wrong method is 405 with Allow instead of 404.
import type { FastifyInstance } from 'fastify';

export type RouteTable = {
  readonly routes: readonly { readonly method: string; readonly url: string }[];
  allowedAt(path: string): readonly string[];
};

/** Follows the routes as they are registered. */
export function createRouteTable(app: FastifyInstance): RouteTable {
  const routes: { method: string; url: string; pattern: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    const pattern = patternOf(url);
    for (const one of [method].flat()) routes.push({ method: one, url, pattern });
  });
  return {
    routes,
    allowedAt(path) {
      const methods = routes.filter(({ pattern }) => pattern.test(path));
      return [...new Set(methods.map(({ method }) => method))].sort();
    },
  };
}

function patternOf(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    return part.startsWith(':') ? '[^/]+' : part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('/')}$`);
}
