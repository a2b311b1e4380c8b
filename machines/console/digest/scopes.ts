// What routes of the digest may ask for; `../scope-list.ts` names all.
import { ADMINS, OPERATORS, type ScopeHolders } from '../../trust/scope.ts';

export const DIGEST_SCOPES = {
  'digests:read': OPERATORS,
  'digests:write': ADMINS,
} as const satisfies ScopeHolders;
