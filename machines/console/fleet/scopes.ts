// What routes of fleet may ask for; `../scope-list.ts` names all.
import { ADMINS, EVERYBODY, OPERATORS, OWNERS, type ScopeHolders } from '../../trust/scope.ts';

export const FLEET_SCOPES = {
  'sensors:read': EVERYBODY,
  /** A sensor owner's reaches the sensors of its teams and its own list only. */
  'sensors:write': OWNERS,
  'teams:read': EVERYBODY,
  'teams:write': ADMINS,
  'groups:read': EVERYBODY,
  'groups:write': OPERATORS,
} as const satisfies ScopeHolders;
