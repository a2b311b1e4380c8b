// What routes of delivery may ask for; `../scope-list.ts` names all.
import { ADMINS, OPERATORS, type ScopeHolders } from '../../trust/scope.ts';

export const DELIVERY_SCOPES = {
  'webhooks:read': OPERATORS,
  'webhooks:write': ADMINS,
} as const satisfies ScopeHolders;
