// What routes of delivery may ask for; `machines/trust/roles.rules.ts` joins the scopes of all.
import { ADMINS, OPERATORS, type ScopeHolders } from '../../trust/scope.ts';

export const DELIVERY_SCOPES = {
  'webhooks:read': OPERATORS,
  'webhooks:write': ADMINS,
} as const satisfies ScopeHolders;
