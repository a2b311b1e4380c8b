// What routes of access may ask for; `machines/trust/roles.rules.ts` joins the scopes of all.
import { ADMINS, type ScopeHolders } from '../../trust/scope.ts';

export const ACCESS_SCOPES = {
  'users:read': ADMINS,
  'users:write': ADMINS,
  'sso:read': ADMINS,
  'sso:write': ADMINS,
} as const satisfies ScopeHolders;
