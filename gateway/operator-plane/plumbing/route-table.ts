// Every route with its guard, in one table: which methods each path knows, so that a wrong method is 405 with Allow
// instead of 404, and who may call what, so that all of it can be tried. invariant: I18
import type { FastifyInstance } from 'fastify';
import type { Guard } from './guard.ts';

export type Route = {
  readonly method: string;
  readonly url: string;
  readonly guard: Guard | undefined;
};

export type RouteTable = {
  readonly routes: readonly Route[];
  allowedAt(path: string): readonly string[];
};

declare module 'fastify' {
  interface FastifyInstance {
    routeTable: RouteTable;
  }
}

/** Follows the routes as they are registered. */
export function createRouteTable(app: FastifyInstance): RouteTable {
  const routes: (Route & { readonly pattern: RegExp })[] = [];
  app.addHook('onRoute', ({ method, url, config }) => {
    const pattern = patternOf(url);
    for (const one of [method].flat()) {
      routes.push({ method: one, url, guard: config?.guard, pattern });
    }
  });
  const table: RouteTable = {
    routes,
    allowedAt(path) {
      const methods = routes.filter(({ pattern }) => pattern.test(path));
      return [...new Set(methods.map(({ method }) => method))].sort();
    },
  };
  app.decorate('routeTable', table);
  return table;
}

function patternOf(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    return part.startsWith(':') ? '[^/]+' : part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('/')}$`);
}
