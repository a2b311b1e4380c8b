// What routes of hunting may ask for; `../scope-list.ts` names all. Those of
// investigations and exercises stood before.
import { ANALYSTS, EVERYBODY, type ScopeHolders } from '../../trust/scope.ts';

export const HUNTING_SCOPES = {
  'searches:read': EVERYBODY,
  'searches:write': ANALYSTS,
  'usual:write': ANALYSTS,
} as const satisfies ScopeHolders;
