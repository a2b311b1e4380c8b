// What routes of detection may ask for; `../scope-list.ts` names all.
import { ANALYSTS, EVERYBODY, type ScopeHolders } from '../../trust/scope.ts';

export const DETECTION_SCOPES = {
  'alerts:read': EVERYBODY,
  'alerts:write': ANALYSTS,
  'alert-rules:read': EVERYBODY,
  'alert-rules:write': ANALYSTS,
  'investigations:read': EVERYBODY,
  'investigations:write': ANALYSTS,
} as const satisfies ScopeHolders;
