// The refusals that trust declares; `../error-list.ts` names all.
import type { ErrorEntries } from '../../error-entry.ts';

export const TRUST_ERRORS = {
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
  token_consumed: {
    status: 409,
    title: 'The enrollment token was already used',
    action: 'Ask an operator for a new token.',
  },
  sensor_is_revoked: {
    status: 409,
    title: 'A revoked sensor cannot be re-enrolled',
    action: 'Enroll the node as a new sensor.',
  },
  key_in_use: {
    status: 409,
    title: 'The key of the request belongs to another sensor',
    action: 'Make a new key on this node; one key serves one identity.',
  },
  identity_conflict: {
    status: 409,
    title: 'Two nodes use one identity',
    action: 'Enroll each node with its own token.',
  },
  token_expired: {
    status: 410,
    title: 'The enrollment token has expired',
    action: 'Ask an operator for a new token.',
  },
  csr_refused: {
    status: 422,
    title: 'The certificate request is refused',
    action: 'Send a CSR with the documented subject and an RSA key of 2048 to 4096 bits.',
  },
  trust_unavailable: {
    status: 503,
    title: 'The revocation view is not current',
    action: 'Try again after Retry-After.',
  },
} as const satisfies ErrorEntries;
