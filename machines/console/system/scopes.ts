// What routes of system may ask for; `machines/trust/roles.rules.ts` joins the scopes of all.
import { ADMINS, EVERYBODY, type ScopeHolders } from '../../trust/scope.ts';

export const SYSTEM_SCOPES = {
  'system:read': EVERYBODY,
  'system:write': ADMINS,
  'metrics:read': EVERYBODY,
} as const satisfies ScopeHolders;
