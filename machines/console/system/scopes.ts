// What routes of system may ask for; `../scope-list.ts` names all.
import { ADMINS, EVERYBODY, type ScopeHolders } from '../../trust/scope.ts';

export const SYSTEM_SCOPES = {
  'system:read': EVERYBODY,
  'system:write': ADMINS,
  'metrics:read': EVERYBODY,
} as const satisfies ScopeHolders;
