// What is written into the audit log about tokens, certificates and the end of trust.
import type { AuditActions } from '../../audit-action.ts';

export const TRUST_AUDIT_ACTIONS = {
  'token.create': 'An enrollment token was made.',
  'token.create_reenroll': 'A token that replaces the identity of a sensor was made.',
  'token.revoke': 'An enrollment token was revoked.',
  'sensor.enroll': 'A sensor was enrolled, or refused.',
  'sensor.renew': 'A renewal was refused.',
  'sensor.revoke': 'A sensor was revoked.',
  'certificate.renew': 'A certificate was issued for one that ends.',
  'certificate.activate': 'A sensor was seen under its renewed certificate.',
} as const satisfies AuditActions;
