// What routes of license may ask for; `machines/trust/roles.rules.ts` joins the scopes of all.
import { ADMINS, EVERYBODY, type ScopeHolders } from '../../trust/scope.ts';

export const LICENSE_SCOPES = {
  'license:read': EVERYBODY,
  'license:write': ADMINS,
} as const satisfies ScopeHolders;
