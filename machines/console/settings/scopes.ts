// What routes of settings may ask for; `../scope-list.ts` names all.
import { ADMINS, OPERATORS, type ScopeHolders } from '../../trust/scope.ts';

export const SETTINGS_SCOPES = {
  'settings:read': OPERATORS,
  'settings:write': ADMINS,
} as const satisfies ScopeHolders;
