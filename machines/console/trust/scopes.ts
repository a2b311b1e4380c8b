// What routes of trust may ask for; `../scope-list.ts` names all.
import { OPERATORS, type ScopeHolders } from '../../trust/scope.ts';

export const TRUST_SCOPES = {
  'tokens:read': OPERATORS,
  'tokens:write': OPERATORS,
} as const satisfies ScopeHolders;
