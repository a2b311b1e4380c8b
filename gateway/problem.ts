// The one encoder of refusals, used by both HTTP planes: RFC 9457 problem+json with a stable code of the catalogue and
// the request's id. Nothing here ever sees a stack or a secret; `detail` is written for the caller.
import { ERRORS, type ErrorCode, type Refusal } from '../machines/errors.ts';

const SECOND_MS = 1_000;
const PROBLEM_TYPE_PREFIX = 'urn:service:error:';

export type Problem = {
  readonly code: ErrorCode;
  readonly requestId: string;
  readonly detail?: string;
  readonly errors?: Refusal['errors'];
  readonly retryAfterMs?: number;
};
export type EncodedProblem = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Renders a refusal; the status comes from the catalogue, Retry-After is whole seconds rounded up. */
export function encodeProblem(problem: Problem): EncodedProblem {
  const { status, title, action } = ERRORS[problem.code];
  const headers: Record<string, string> = { 'content-type': 'application/problem+json' };
  if (problem.retryAfterMs !== undefined)
    headers['retry-after'] = String(Math.max(1, Math.ceil(problem.retryAfterMs / SECOND_MS)));
  const body = JSON.stringify({
    type: `${PROBLEM_TYPE_PREFIX}${problem.code}`,
    title,
    status,
    detail: problem.detail ?? action,
    code: problem.code,
    request_id: problem.requestId,
    ...(problem.errors ? { errors: problem.errors } : {}),
  });
  return { status, headers, body };
}
