// What routes of policy may ask for; `machines/trust/roles.rules.ts` joins the scopes of all. Reserved: no route
// asks for one yet, but keys may hold them.
import { EVERYBODY, OPERATORS, type ScopeHolders } from '../../trust/scope.ts';

export const POLICY_SCOPES = {
  'policies:read': EVERYBODY,
  'policies:write': OPERATORS,
  'exercises:read': EVERYBODY,
  'exercises:write': OPERATORS,
} as const satisfies ScopeHolders;
