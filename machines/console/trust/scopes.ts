// What routes of trust may ask for; `machines/trust/roles.rules.ts` joins the scopes of all.
import { OPERATORS, type ScopeHolders } from '../../trust/scope.ts';

export const TRUST_SCOPES = {
  'tokens:read': OPERATORS,
  'tokens:write': OPERATORS,
} as const satisfies ScopeHolders;
