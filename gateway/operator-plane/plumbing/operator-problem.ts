// A refusal of the operator plane as the shared encoder renders it, plus what only this plane's 401 must say.
import type { Refusal } from '../../../machines/errors.ts';
import { type EncodedProblem, encodeProblem } from '../../problem.ts';

/** Encodes a refusal; a 401 names the scheme that would be accepted. */
export function operatorProblem(refusal: Refusal, requestId: string): EncodedProblem {
  const { code, detail, errors, retryAfterMs } = refusal;
  const problem = encodeProblem({
    code,
    requestId,
    detail,
    errors,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
  if (problem.status !== 401) return problem;
  const reason = code === 'credential_invalid' ? ', error="invalid_token"' : '';
  const challenge = `Bearer realm="service"${reason}`;
  return { ...problem, headers: { ...problem.headers, 'www-authenticate': challenge } };
}
