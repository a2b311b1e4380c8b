// Every refusal of the operator plane, its own or the framework's, leaves through the one problem encoder that the sensor
// plane uses too.
import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import type { Logger } from '../../../actors/runtime/logger.ts';
import { ERRORS, type Refusal, refuse } from '../../../machines/errors.ts';
import { RETRY_AFTER_STORE_MS } from '../../../machines/limits.ts';
import { StoreUnavailable } from '../../../storage/ports/plumbing/store-unavailable.ts';
import {
  EventStoreUnavailable,
  SearchTooLarge,
} from '../../../storage/ports/telemetry/event-store.ts';
import { operatorProblem } from './operator-problem.ts';

const POINTER_PREFIX: Readonly<Record<string, string>> = {
  querystring: '/query',
  params: '/path',
  headers: '/headers',
};
const ERRORS_SHOWN_MAX = 20;

type Violation = {
  readonly instancePath: string;
  readonly message?: string;
  readonly params?: Readonly<Record<string, unknown>>;
};

/** Thrown inside a route when a question took longer than its deadline. */
export class QuestionTimedOut extends Error {
  override readonly name = 'QuestionTimedOut';
}

/** Thrown inside a route when a question may not be asked now. */
export class RefusedSearch extends Error {
  override readonly name = 'RefusedSearch';
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.detail);
    this.refusal = refusal;
  }
}

/** Sends a refusal as a problem; bytes, because the framework would add a charset to text. */
export function sendRefusal(reply: FastifyReply, refusal: Refusal): FastifyReply {
  const problem = operatorProblem(refusal, String(reply.request.id));
  for (const [name, value] of Object.entries(problem.headers)) reply.header(name, value);
  return reply.code(problem.status).send(Buffer.from(problem.body));
}

/** Sets the error handlers; `allowedAt` names the methods that exist at a path. */
export function setProblemHandlers(
  app: FastifyInstance,
  logger: Logger,
  allowedAt: (path: string) => readonly string[],
): void {
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const refusal = refusalOf(error);
    if (refusal.code === 'internal') {
      logger.error(
        { request_id: request.id, path: request.routeOptions.url, error: String(error.stack) },
        'an operator request failed',
      );
    }
    return sendRefusal(reply, refusal);
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '/';
    const allowed = allowedAt(path);
    if (allowed.length === 0) {
      return sendRefusal(reply, refuse('not_found', 'There is no resource at this address.'));
    }
    reply.header('allow', allowed.join(', '));
    return sendRefusal(
      reply,
      refuse('method_not_allowed', `This address knows ${allowed.join(', ')}.`),
    );
  });
}

/** The refusal behind anything thrown. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof StoreUnavailable || error instanceof EventStoreUnavailable) {
    return refuse('store_unavailable', 'The store that knows the answer is away.', {
      retryAfterMs: RETRY_AFTER_STORE_MS,
    });
  }
  if (error instanceof RefusedSearch) return error.refusal;
  if (error instanceof SearchTooLarge) {
    return refuse('search_too_large', `The search was ended: ${error.message}.`);
  }
  if (error instanceof QuestionTimedOut) return refuse('timed_out', error.message);
  const { validation, validationContext, statusCode, code } = error as Partial<FastifyError>;
  if (validation !== undefined) {
    return refuse('schema_violation', 'The request does not fit its schema.', {
      errors: violationsOf(validation as readonly Violation[], validationContext ?? 'body'),
    });
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return refuse('unsupported_encoding', 'The body must be application/json.');
  }
  if (statusCode === 413) return refuse('body_too_large', 'The body is over its limit.');
  if (code?.startsWith('FST_ERR_CTP') || error instanceof SyntaxError) {
    return refuse('malformed_body', 'The body is not readable JSON.');
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return refuse('malformed_request', 'The request cannot be understood.');
  }
  return refuse('internal', ERRORS.internal.title);
}

function violationsOf(validation: readonly Violation[], context: string) {
  const prefix = POINTER_PREFIX[context] ?? '';
  const shown = new Map<string, string>();
  for (const { instancePath, message, params } of validation) {
    const unknown = namesIn(params, 'additionalProperties');
    const missing = namesIn(params, 'requiredProperties');
    for (const name of unknown) shown.set(`${prefix}${instancePath}/${name}`, 'unknown field');
    for (const name of missing) shown.set(`${prefix}${instancePath}/${name}`, 'required');
    if (unknown.length > 0 || missing.length > 0) continue;
    const pointer = `${prefix}${instancePath}`;
    if (!shown.has(pointer)) shown.set(pointer, message ?? 'does not fit');
  }
  return [...shown].slice(0, ERRORS_SHOWN_MAX).map(([pointer, detail]) => ({ pointer, detail }));
}

function namesIn(params: Violation['params'], key: string): readonly string[] {
  const names = params?.[key];
  return Array.isArray(names) ? names.map(String) : [];
}
