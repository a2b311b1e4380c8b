// The one catalogue of refusals. Every answer that says no names a code from here; both HTTP planes render it with the
// same encoder as application/problem+json. A retired code is never used again.
import * as LIST from './console/error-list.ts';
import type { ErrorEntries } from './error-entry.ts';
import { joined } from './joined.ts';

/** What any request may meet. */
const REQUEST_ERRORS = {
  malformed_request: {
    status: 400,
    title: 'The request is malformed',
    action: 'Correct the request and send it again.',
  },
  malformed_body: {
    status: 400,
    title: 'The body cannot be read',
    action: 'Send one complete body in the declared encoding.',
  },
  not_found: {
    status: 404,
    title: 'Nothing is here',
    action: 'Check the address and the identifier.',
  },
  sensor_package_missing: {
    status: 404,
    title: 'The package of the Sensor is not on this Console',
    action: 'Run `npm run package:sensor` in the folder of the Console, then try again.',
  },
  method_not_allowed: {
    status: 405,
    title: 'This method is not allowed here',
    action: 'Use one of the methods in Allow.',
  },
  length_required: {
    status: 411,
    title: 'The length of the body is missing',
    action: 'Send the body whole, with Content-Length.',
  },
  body_too_large: { status: 413, title: 'The body is too large', action: 'Send smaller batches.' },
  unsupported_encoding: {
    status: 415,
    title: 'The content encoding or type is not supported',
    action: 'Send JSON, plain or zstd.',
  },
  schema_violation: {
    status: 422,
    title: 'The body does not fit its schema',
    action: 'Correct the named fields.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    action: 'Wait for the time in Retry-After.',
  },
  internal: {
    status: 500,
    title: 'The Console failed',
    action: 'Try again; report the request id if it persists.',
  },
  overloaded: {
    status: 503,
    title: 'The Console has too much of this to do now',
    action: 'Try again after Retry-After.',
  },
  sensor_package_pending: {
    status: 503,
    title: 'The package of the Sensor is being made',
    action: 'Try again after Retry-After.',
  },
  store_unavailable: {
    status: 503,
    title: 'A store cannot take the request now',
    action: 'Try again after Retry-After.',
  },
  shutting_down: {
    status: 503,
    title: 'The Console is stopping',
    action: 'Try again after Retry-After.',
  },
  timed_out: {
    status: 504,
    title: 'The request took too long',
    action: 'Narrow the request or try again.',
  },
} as const satisfies ErrorEntries;

/** The whole catalogue. */
export const ERRORS = { ...REQUEST_ERRORS, ...joined(LIST) };

export type ErrorCode = keyof typeof ERRORS;

/** A refusal as a value; `detail` never holds a secret or a stack. */
export type Refusal = {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
  readonly retryAfterMs?: number;
};

/** Makes a refusal. */
export function refuse(
  code: ErrorCode,
  detail: string,
  more: Partial<Pick<Refusal, 'errors' | 'retryAfterMs'>> = {},
): Refusal {
  return { ok: false, code, detail, ...more };
}
