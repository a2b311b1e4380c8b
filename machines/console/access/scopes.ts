// What routes of access may ask for; `../scope-list.ts` names all.
import { ADMINS, type ScopeHolders } from '../../trust/scope.ts';

export const ACCESS_SCOPES = {
  'users:read': ADMINS,
  'users:write': ADMINS,
  'sso:read': ADMINS,
  'sso:write': ADMINS,
} as const satisfies ScopeHolders;
