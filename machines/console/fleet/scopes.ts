// What routes of fleet may ask for; `machines/trust/roles.rules.ts` joins the scopes of all.
import { ADMINS, EVERYBODY, OPERATORS, type Role, type ScopeHolders } from '../../trust/scope.ts';

/** A sensor owner's reaches the sensors of its teams and its own list only. */
const OWNERS: readonly Role[] = ['sensor_owner', 'operator', 'admin'];

export const FLEET_SCOPES = {
  'sensors:read': EVERYBODY,
  'sensors:write': OWNERS,
  'teams:read': EVERYBODY,
  'teams:write': ADMINS,
  'groups:read': EVERYBODY,
  'groups:write': OPERATORS,
} as const satisfies ScopeHolders;
