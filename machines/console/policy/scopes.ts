// What routes of policy may ask for; `machines/trust/roles.rules.ts` joins the scopes of all. Reserved: no route
// asks for one yet, but keys may hold them.
import { EVERYBODY, OPERATORS, OWNERS, type ScopeHolders } from '../../trust/scope.ts';

export const POLICY_SCOPES = {
  'policies:read': EVERYBODY,
  'policies:write': OPERATORS,
  /** Assigns, rolls out, contains; a sensor owner's contains and releases owned sensors only. */
  'assignments:write': OWNERS,
  'exercises:read': EVERYBODY,
  'exercises:write': OPERATORS,
} as const satisfies ScopeHolders;
