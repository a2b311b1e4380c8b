// What is written into the audit log about people, their factors, sessions and keys.
import type { AuditActions } from '../../audit-action.ts';

export const ACCESS_AUDIT_ACTIONS = {
  'user.create': 'An account was made, or refused because its address is taken.',
  'user.change': 'An account was changed.',
  'user.remove': 'An account was removed.',
  'user.login': 'Somebody logged in, or tried to.',
  'user.reauthenticate': 'A person showed password and second factor again.',
  'user.password': 'A person set a new password.',
  'user.reset_link': 'A link to set a new password was made.',
  'user.reset': 'A password was set through such a link, or tried to be.',
  'user.link_identity': 'An account was linked to an identity of a provider.',
  'mfa.begin': 'The set-up of a second factor began.',
  'mfa.enable': 'A second factor is in force.',
  'mfa.disable': 'A second factor was taken away.',
  'mfa.code': 'A code of a second factor was shown.',
  'mfa.recovery_codes': 'New recovery codes were made.',
  'mfa.recovery_code_used': 'A recovery code was used.',
  'session.end': 'A session was ended.',
  'session.end_all': 'All other sessions of a person were ended.',
  'api_key.create': 'A key was made.',
  'api_key.revoke': 'A key was revoked.',
  'credential.refused': 'Credentials were refused, counted by place and minute.',
  'sso_provider.create': 'An identity provider was added.',
  'sso_provider.change': 'An identity provider was changed.',
  'sso_provider.remove': 'An identity provider was removed.',
} as const satisfies AuditActions;
