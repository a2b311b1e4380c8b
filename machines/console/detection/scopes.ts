// What routes of detection may ask for; `machines/trust/roles.rules.ts` joins the scopes of all. Reserved: no route
// asks for one yet, but keys may hold them.
import { ANALYSTS, EVERYBODY, type ScopeHolders } from '../../trust/scope.ts';

export const DETECTION_SCOPES = {
  'alerts:read': EVERYBODY,
  'alerts:write': ANALYSTS,
  'investigations:read': EVERYBODY,
  'investigations:write': ANALYSTS,
} as const satisfies ScopeHolders;
