// What routes of audit may ask for; `machines/trust/roles.rules.ts` joins the scopes of all.
import { OPERATORS, type ScopeHolders } from '../../trust/scope.ts';

export const AUDIT_SCOPES = {
  'audit:read': OPERATORS,
} as const satisfies ScopeHolders;
