// Probes and facts outside /api/v2: alive, ready (per store, with its milliseconds), version, metrics, the CA certificate.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { refuse } from '../../../machines/errors.ts';
import {
  DATABASE_TIMEOUT_MS,
  PROBE_SHARED_MS,
  RETRY_AFTER_STORE_MS,
} from '../../../machines/limits.ts';
import { withinDeadline } from '../plumbing/deadline.ts';
import type { Probe } from '../plumbing/deps.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, refusals } from '../plumbing/shapes.ts';
import type { SystemRouteDeps } from './system-deps.ts';

const Readiness = Type.Object({
  status: Type.Enum(['ready', 'not_ready']),
  because: Type.Optional(Nullable(Type.String())),
  dependencies: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String(),
        ok: Type.Boolean(),
        required: Type.Boolean({ description: 'False: the Console is ready without it.' }),
        ms: Type.Number(),
      }),
    ),
  ),
});

export function healthRoutes(deps: SystemRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await probeRoutes(deps)(app, {});
    await factRoutes(deps)(app, {});
  };
}

function probeRoutes(deps: SystemRouteDeps): FastifyPluginAsyncTypebox {
  const probeAll = sharedProbes(deps.probes);
  return async (app) => {
    app.get('/livez', {
      config: { guard: { public: true, unmetered: true } },
      schema: {
        operationId: 'livez',
        summary: 'The process is alive',
        tags: ['health'],
        response: { 200: Type.Object({ status: Type.Literal('alive') }) },
      },
      handler: async () => ({ status: 'alive' as const }),
    });

    app.get('/readyz', {
      config: { guard: { public: true, unmetered: true, closedBy: 'verbose' } },
      schema: {
        operationId: 'readyz',
        summary: 'The stores can be reached and the Console takes requests',
        tags: ['health'],
        // Unknown questions are ignored, as probes of others ask them.
        querystring: Type.Object({
          verbose: Type.Optional(
            Type.String({
              description: 'Names each store; for who has logged in, or is on this machine',
            }),
          ),
        }),
        response: { 200: Readiness, 503: Readiness, ...refusals(401, 403, 429) },
      },
      handler: async (request, reply) => {
        const because = deps.notReadyBecause();
        const dependencies = await probeAll();
        const isReady =
          because === null && dependencies.every(({ ok, required }) => ok || !required);
        if (!isReady) {
          reply.code(503).header('retry-after', String(Math.ceil(RETRY_AFTER_STORE_MS / 1_000)));
        }
        return {
          status: isReady ? ('ready' as const) : ('not_ready' as const),
          ...(request.query.verbose === undefined ? {} : { because, dependencies }),
        };
      },
    });
  };
}

function factRoutes(deps: SystemRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/version', {
      config: { guard: { public: true } },
      schema: {
        operationId: 'version',
        summary: 'What runs here',
        tags: ['health'],
        response: { 200: Type.Object({ version: Type.String(), platform: Type.String() }) },
      },
      handler: async () => ({ ...deps.version }),
    });

    app.get('/metrics', {
      config: { guard: { scope: 'metrics:read' } },
      schema: {
        operationId: 'metrics',
        summary: 'Prometheus metrics',
        tags: ['health'],
        response: {
          200: {
            description: 'Text format',
            content: { 'text/plain': { schema: Type.String() } },
          },
          ...refusals(401, 403, 429),
        },
      },
      handler: async (_request, reply) => {
        reply.header('content-type', deps.metrics.registry.contentType);
        return reply.send(await deps.metrics.registry.metrics());
      },
    });

    app.get('/ca.pem', {
      config: { guard: { public: true } },
      schema: {
        operationId: 'caCertificate',
        summary: 'The CA certificate to pin',
        tags: ['trust'],
        response: {
          200: {
            description: 'PEM',
            content: { 'application/x-pem-file': { schema: Type.String() } },
          },
        },
      },
      handler: async (_request, reply) => {
        const pem = deps.caPem();
        if (pem === '') return sendRefusal(reply, refuse('not_found', 'There is no CA here yet.'));
        return reply.header('content-type', 'application/x-pem-file').send(pem);
      },
    });
  };
}

// Anybody may ask, as often as they like: one look serves all who ask within its time.
function sharedProbes(probes: readonly Probe[]) {
  let look: Promise<Awaited<ReturnType<typeof probe>>[]> | null = null;
  let lookedAtMs = 0;
  return () => {
    const nowMs = performance.now();
    if (look === null || nowMs - lookedAtMs >= PROBE_SHARED_MS) {
      lookedAtMs = nowMs;
      look = Promise.all(probes.map(probe));
    }
    return look;
  };
}

async function probe(one: Probe) {
  const startedAt = performance.now();
  const ok = await withinDeadline(one.ping(), DATABASE_TIMEOUT_MS).catch(() => false);
  const required = one.isOptional !== true;
  return {
    name: one.name,
    ok,
    required,
    ms: Math.round((performance.now() - startedAt) * 10) / 10,
  };
}
