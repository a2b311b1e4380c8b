// What routes of license may ask for; `../scope-list.ts` names all.
import { ADMINS, EVERYBODY, type ScopeHolders } from '../../trust/scope.ts';

export const LICENSE_SCOPES = {
  'license:read': EVERYBODY,
  'license:write': ADMINS,
} as const satisfies ScopeHolders;
