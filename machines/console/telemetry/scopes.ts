// What routes of telemetry may ask for; `machines/trust/roles.rules.ts` joins the scopes of all.
import { EVERYBODY, type ScopeHolders } from '../../trust/scope.ts';

export const TELEMETRY_SCOPES = {
  'events:read': EVERYBODY,
} as const satisfies ScopeHolders;
