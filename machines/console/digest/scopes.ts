// What routes of the digest may ask for; `machines/trust/roles.rules.ts` joins the scopes of all.
import { ADMINS, OPERATORS, type ScopeHolders } from '../../trust/scope.ts';

export const DIGEST_SCOPES = {
  'digests:read': OPERATORS,
  'digests:write': ADMINS,
} as const satisfies ScopeHolders;
