// What routes of policy may ask for; `../scope-list.ts` names all. Exercises are
// reserved: no route asks for them yet, but keys may hold them.
import { ADMINS, EVERYBODY, OPERATORS, OWNERS, type ScopeHolders } from '../../trust/scope.ts';

export const POLICY_SCOPES = {
  'policies:read': EVERYBODY,
  'policies:write': OPERATORS,
  /** Assigns, rolls out, contains; a sensor owner's contains and releases owned sensors only. */
  'assignments:write': OWNERS,
  'signing-keys:write': ADMINS,
  'exercises:read': EVERYBODY,
  'exercises:write': OPERATORS,
} as const satisfies ScopeHolders;
