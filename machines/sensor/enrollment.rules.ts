// What an answer to an enrollment means: an identity, a refusal that no repetition changes, or another try.
import type { ErrorCode } from '../errors.ts';

/** Refusals that stay refusals: a person has to act. The key is kept, so a repeat with a good token costs nothing. */
export const FINAL_ENROLLMENT_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  'token_invalid',
  'token_consumed',
  'token_expired',
  'csr_refused',
  'sensor_is_revoked',
  'license_limit',
  'schema_violation',
  'malformed_request',
  'malformed_body',
]);

export type EnrollmentAttempt =
  | { readonly kind: 'enrolled'; readonly sensorId: string; readonly notAfterMs: number }
  | { readonly kind: 'refused'; readonly code: string; readonly detail: string }
  | { readonly kind: 'retry'; readonly reason: string; readonly retryAfterMs: number | null };

/** Sorts a refusal by its code; what is not final is tried again. */
export function judgeRefusal(
  code: string,
  detail: string,
  retryAfterMs: number | null,
): EnrollmentAttempt {
  if (FINAL_ENROLLMENT_CODES.has(code)) return { kind: 'refused', code, detail };
  return { kind: 'retry', reason: `${code}: ${detail}`, retryAfterMs };
}
