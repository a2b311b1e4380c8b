// What routes of audit may ask for; `../scope-list.ts` names all.
import { OPERATORS, type ScopeHolders } from '../../trust/scope.ts';

export const AUDIT_SCOPES = {
  'audit:read': OPERATORS,
} as const satisfies ScopeHolders;
