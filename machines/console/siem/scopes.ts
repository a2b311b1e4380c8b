// What routes of event forwarding may ask for; `../scope-list.ts` names all.
import { ADMINS, OPERATORS, type ScopeHolders } from '../../trust/scope.ts';

export const SIEM_SCOPES = {
  'siem:read': OPERATORS,
  'siem:write': ADMINS,
} as const satisfies ScopeHolders;
