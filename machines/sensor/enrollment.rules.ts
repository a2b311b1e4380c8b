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

const NEW_TOKEN = 'make a new one on the Console: service-console tokens create';
/** What a person does about a refusal. */
const NEXT: Readonly<Record<string, string>> = {
  token_invalid: `check that the token is of this Console, or ${NEW_TOKEN}`,
  token_consumed: NEW_TOKEN,
  token_expired: NEW_TOKEN,
  sensor_is_revoked: NEW_TOKEN,
  license_limit:
    'import a license with more nodes on the Console: service-console license import FILE',
  csr_refused: 'try again with another --node-name, and look at service-sensor doctor',
  schema_violation: 'this Sensor and its Console may be of different versions: install it anew',
};

/** A refusal in one line, with what to do next where that is known. */
export function refusalSentence(code: string, detail: string): string {
  const next = NEXT[code];
  return next === undefined
    ? `${code}: ${detail}`
    : `${code}: ${detail.replace(/\.$/, '')}; ${next}`;
}

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
