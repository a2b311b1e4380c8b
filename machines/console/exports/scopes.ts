// What routes of the export may ask for; `../scope-list.ts` names all.
import { ADMINS, OPERATORS, type ScopeHolders } from '../../trust/scope.ts';

export const EXPORT_SCOPES = {
  'exports:read': OPERATORS,
  'exports:write': ADMINS,
} as const satisfies ScopeHolders;
