// What routes of telemetry may ask for; `../scope-list.ts` names all.
import { EVERYBODY, type ScopeHolders } from '../../trust/scope.ts';

export const TELEMETRY_SCOPES = {
  'events:read': EVERYBODY,
} as const satisfies ScopeHolders;
