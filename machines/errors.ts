// The one catalogue of refusals. Every answer that says no names a code from here; both HTTP planes render it with the
// same encoder as application/problem+json. A retired code is never used again.

type ErrorEntry = {
  readonly status: number;
  readonly title: string;
  /** What the caller can do about it. */
  readonly action: string;
};

export const ERRORS = {
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
  client_certificate_required: {
    status: 401,
    title: 'A client certificate is required',
    action: 'Connect with the certificate issued at enrollment.',
  },
  certificate_unknown: {
    status: 401,
    title: 'The client certificate is not known',
    action: 'Enroll this sensor again.',
  },
  certificate_expired: {
    status: 401,
    title: 'The client certificate has expired',
    action: 'Re-enroll with a re-enrollment token.',
  },
  token_invalid: {
    status: 401,
    title: 'The enrollment token is not valid',
    action: 'Ask an operator for a new token.',
  },
  setup_code_invalid: {
    status: 401,
    title: 'The setup code is not valid',
    action: 'Enter the code that the Console printed on its terminal.',
  },
  credential_required: {
    status: 401,
    title: 'A credential is required',
    action: 'Send an API key as a bearer token.',
  },
  credential_invalid: {
    status: 401,
    title: 'The credential is not valid',
    action: 'Check the API key or ask for a new one.',
  },
  credentials_refused: {
    status: 401,
    title: 'The e-mail address or the password is wrong',
    action: 'Try again, or ask an admin for a link to set a new password.',
  },
  sensor_revoked: {
    status: 403,
    title: 'The sensor is revoked',
    action: 'Enroll the node as a new sensor.',
  },
  certificate_superseded: {
    status: 403,
    title: 'The client certificate was replaced',
    action: 'Use the current certificate.',
  },
  renewal_not_allowed: {
    status: 403,
    title: 'Only the current certificate may renew',
    action: 'Renew with the current certificate.',
  },
  role_required: {
    status: 403,
    title: 'The credential does not allow this',
    action: 'Use a credential with the named scope.',
  },
  session_required: {
    status: 403,
    title: 'This is for a person with a session',
    action: 'Log in; an API key cannot do this.',
  },
  password_change_required: {
    status: 403,
    title: 'The password must be changed first',
    action: 'Set a password that only you know.',
  },
  fresh_login_required: {
    status: 403,
    title: 'Credentials must be shown again',
    action: 'Show password and second factor again, then repeat the request within ten minutes.',
  },
  second_factor_required: {
    status: 403,
    title: 'The second factor is missing',
    action: 'Show the second factor, or set one up.',
  },
  not_owner: {
    status: 403,
    title: 'The sensor is not yours',
    action: 'Ask an operator, or whoever owns the sensor.',
  },
  csrf_refused: {
    status: 403,
    title: 'The request does not come from this Console',
    action: 'Send it from the Console itself, with the header x-service-csrf.',
  },
  mfa_code_invalid: {
    status: 403,
    title: 'The code is not valid',
    action: 'Enter the code that the app shows now, or a recovery code; each works once.',
  },
  sso_login_refused: {
    status: 403,
    title: 'The login does not belong to this browser',
    action: 'Begin the login again on the login page.',
  },
  sso_answer_refused: {
    status: 403,
    title: 'The answer of the identity provider is refused',
    action: 'Begin the login again; if it is refused again, ask an admin.',
  },
  sso_email_refused: {
    status: 403,
    title: 'The e-mail address does not allow this login',
    action: 'Have the identity provider verify an address of an allowed domain.',
  },
  sso_account_refused: {
    status: 403,
    title: 'This identity has no access here',
    action: 'Ask an admin for an account or for a role of one of your groups.',
  },
  license_limit: {
    status: 403,
    title: 'The license allows no further sensor',
    action: 'Import a license with more nodes.',
  },
  not_found: {
    status: 404,
    title: 'Nothing is here',
    action: 'Check the address and the identifier.',
  },
  method_not_allowed: {
    status: 405,
    title: 'This method is not allowed here',
    action: 'Use one of the methods in Allow.',
  },
  token_consumed: {
    status: 409,
    title: 'The enrollment token was already used',
    action: 'Ask an operator for a new token.',
  },
  sequence_conflict: {
    status: 409,
    title: 'This sequence number holds other content',
    action: 'Send the batch under a new number.',
  },
  sensor_is_revoked: {
    status: 409,
    title: 'A revoked sensor cannot be re-enrolled',
    action: 'Enroll the node as a new sensor.',
  },
  identity_conflict: {
    status: 409,
    title: 'Two nodes use one identity',
    action: 'Enroll each node with its own token.',
  },
  loop_off_duty: {
    status: 409,
    title: 'This Console does not run this loop now',
    action: 'Ask the designated Console; `service-console loops list` names it.',
  },
  license_ended: {
    status: 409,
    title: 'The license has ended',
    action: 'Import a license whose grace period lasts.',
  },
  name_taken: {
    status: 409,
    title: 'Something has this name already',
    action: 'Choose another name; upper and lower case are the same.',
  },
  bound_reached: {
    status: 409,
    title: 'There is no room for more',
    action: 'Remove what is no longer used.',
  },
  email_taken: {
    status: 409,
    title: 'An account has this e-mail address',
    action: 'Use another address, or change the account that has it.',
  },
  last_admin: {
    status: 409,
    title: 'The last admin stays',
    action: 'Make another person an admin first.',
  },
  user_conflict: {
    status: 409,
    title: 'The account was changed meanwhile',
    action: 'Read it again and repeat the change.',
  },
  settings_conflict: {
    status: 409,
    title: 'The settings were changed meanwhile',
    action: 'Read the settings again and repeat the change.',
  },
  setup_out_of_order: {
    status: 409,
    title: 'This step of the setup is not possible now',
    action: 'Finish the steps that the state names first.',
  },
  mfa_state_conflict: {
    status: 409,
    title: 'The second factor does not allow this now',
    action: 'Read the state of the second factor, then do what the detail says.',
  },
  sso_provider_conflict: {
    status: 409,
    title: 'The identity provider was changed meanwhile',
    action: 'Read it again and repeat the change.',
  },
  token_expired: {
    status: 410,
    title: 'The enrollment token has expired',
    action: 'Ask an operator for a new token.',
  },
  reset_link_ended: {
    status: 410,
    title: 'The link is not known, was used, or is over',
    action: 'Ask an admin for a new link.',
  },
  body_too_large: { status: 413, title: 'The body is too large', action: 'Send smaller batches.' },
  unsupported_encoding: {
    status: 415,
    title: 'The content encoding or type is not supported',
    action: 'Send JSON, plain or zstd.',
  },
  csr_refused: {
    status: 422,
    title: 'The certificate request is refused',
    action: 'Send a CSR with the documented subject and an RSA key of 2048 to 4096 bits.',
  },
  schema_violation: {
    status: 422,
    title: 'The body does not fit its schema',
    action: 'Correct the named fields.',
  },
  reference_unknown: {
    status: 422,
    title: 'Something that is named does not exist',
    action: 'Correct the named identifiers; nothing was changed.',
  },
  password_refused: {
    status: 422,
    title: 'The password is not good enough',
    action: 'Choose one that fits the named rules.',
  },
  license_refused: {
    status: 422,
    title: 'The license is not genuine',
    action: 'Import the file unchanged, as it was issued for this Console.',
  },
  connection_failed: {
    status: 422,
    title: 'The connection does not work',
    action: 'Correct the address or the named reason and test it again.',
  },
  sso_provider_refused: {
    status: 422,
    title: 'The identity provider cannot be used like this',
    action: 'Correct the named fields.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    action: 'Wait for the time in Retry-After.',
  },
  login_throttled: {
    status: 429,
    title: 'Too many failed logins',
    action: 'Wait for the time in Retry-After.',
  },
  mfa_locked: {
    status: 429,
    title: 'Too many wrong codes',
    action: 'Wait for the time in Retry-After, then log in again.',
  },
  internal: {
    status: 500,
    title: 'The Console failed',
    action: 'Try again; report the request id if it persists.',
  },
  setup_required: {
    status: 503,
    title: 'The Console is not set up yet',
    action: 'Open /setup with the code that the Console printed on its terminal.',
  },
  sso_provider_unavailable: {
    status: 503,
    title: 'The identity provider does not answer',
    action: 'Try again after Retry-After, or log in another way.',
  },
  overloaded: {
    status: 503,
    title: 'The Console has too much of this to do now',
    action: 'Try again after Retry-After.',
  },
  store_unavailable: {
    status: 503,
    title: 'A store cannot take the request now',
    action: 'Try again after Retry-After.',
  },
  trust_unavailable: {
    status: 503,
    title: 'The revocation view is not current',
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
} as const satisfies Record<string, ErrorEntry>;

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
