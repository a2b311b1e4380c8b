// The refusals that access declares; `../error-list.ts` names all.
import type { ErrorEntries } from '../../error-entry.ts';

export const ACCESS_ERRORS = {
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
  reset_link_ended: {
    status: 410,
    title: 'The link is not known, was used, or is over',
    action: 'Ask an admin for a new link.',
  },
  password_refused: {
    status: 422,
    title: 'The password is not good enough',
    action: 'Choose one that fits the named rules.',
  },
  sso_provider_refused: {
    status: 422,
    title: 'The identity provider cannot be used like this',
    action: 'Correct the named fields.',
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
  sso_provider_unavailable: {
    status: 503,
    title: 'The identity provider does not answer',
    action: 'Try again after Retry-After, or log in another way.',
  },
} as const satisfies ErrorEntries;
