// The API description, OpenAPI 3.1, generated from the routes themselves.
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { SESSION_COOKIE } from '../../access/session-cookie.ts';
import type { Guard } from './guard.ts';

/** Options of the generator. */
export function describeApi(version: string): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Fleet runtime security Console',
        version,
        description:
          'Lists are cursor pages. Times are RFC 3339 UTC. Refusals are RFC 9457 problems with a stable `code`. Changes come on the WebSocket `/api/v2/live`: send `{"subscribe":[{"topic":"fleet"}]}` (topics `fleet`, `sensor`, `events`, `actors`).',
      },
      servers: [{ url: '/' }],
      components: {
        securitySchemes: {
          apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'svck_[0-9A-Za-z]{49}' },
          session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE },
        },
      },
    },
    transform: ({ schema, url, route }) => {
      const guard = route.config?.guard;
      return {
        url,
        schema: {
          ...schema,
          security: securityOf(guard),
          description: [schema?.description, sayingOf(guard)].filter(Boolean).join('\n\n'),
        },
      };
    },
  };
}

function securityOf(guard: Guard | undefined): Record<string, string[]>[] {
  if (guard === undefined || 'public' in guard) return [];
  const takesKeys = 'scope' in guard || ('keys' in guard && guard.keys === true);
  return takesKeys ? [{ apiKey: [] }, { session: [] }] : [{ session: [] }];
}

// What a caller needs, in words that the security schemes have no place for.
function sayingOf(guard: Guard | undefined): string {
  if (guard === undefined || 'public' in guard) return '';
  if ('partial' in guard) return 'For a person who logged in, before the second factor too.';
  if ('self' in guard) return 'For a person, about what is its own.';
  const owned = guard.owned === undefined ? '' : ' A sensor owner reaches its own sensors only.';
  return `Scope: \`${guard.scope}\`.${owned}`;
}
