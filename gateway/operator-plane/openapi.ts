// The API description, OpenAPI 3.1, generated from the routes themselves.
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';

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
        },
      },
    },
    transform: ({ schema, url, route }) => {
      const guard = route.config?.guard;
      const isOpen = guard !== undefined && 'public' in guard;
      const scope = guard !== undefined && 'scope' in guard ? guard.scope : null;
      return {
        url,
        schema: {
          ...schema,
          security: isOpen ? [] : [{ apiKey: [] }],
          ...(scope === null
            ? {}
            : { description: `${schema?.description ?? ''}\n\nScope: \`${scope}\`.`.trim() }),
        },
      };
    },
  };
}
