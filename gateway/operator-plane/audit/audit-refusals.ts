// Operator actions that were refused leave a trace too. What succeeded is recorded by the store in the same transaction
// as the action; a refusal changed nothing, so it is written after the answer, and its loss is only logged.
import type { FastifyInstance } from 'fastify';
import type { Logger } from '../../../actors/runtime/logger.ts';
import type { AuditLog } from '../../../storage/ports/audit/audit-log.ts';

const FORBIDDEN = 403;
const REFUSED_FROM = 400;
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Records refused changes of known callers, and every call that lacked its scope. */
export function auditRefusals(
  app: FastifyInstance,
  deps: {
    readonly audit: Pick<AuditLog, 'append'>;
    readonly now: () => number;
    readonly logger: Logger;
  },
): void {
  app.addHook('onResponse', async (request, reply) => {
    const { operator } = request;
    const isChange = !READING.has(request.method) && reply.statusCode >= REFUSED_FROM;
    if (operator === null || !(isChange || reply.statusCode === FORBIDDEN)) return;
    const entry = {
      atMs: deps.now(),
      actor: operator.actor,
      action: `${request.method} ${asPath(request.routeOptions.url)}` as const,
      target: targetOf(request.params),
      result: String(reply.statusCode),
      from: request.ip,
      detail: { request_id: String(request.id) },
    };
    try {
      await deps.audit.append([entry]);
    } catch (error) {
      deps.logger.warn({ error: String(error), ...entry }, 'a refusal could not be audited');
    }
  });
}

function targetOf(params: unknown): string {
  if (typeof params !== 'object' || params === null || !('id' in params)) return '';
  return String(params.id);
}

function asPath(url: string | undefined): `/${string}` {
  return `/${(url ?? '').replace(/^\//, '')}`;
}
