// What routes of settings may ask for; `machines/trust/roles.rules.ts` joins the scopes of all.
import { ADMINS, OPERATORS, type ScopeHolders } from '../../trust/scope.ts';

export const SETTINGS_SCOPES = {
  'settings:read': OPERATORS,
  'settings:write': ADMINS,
} as const satisfies ScopeHolders;
