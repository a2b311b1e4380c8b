// What is written into the audit log about what the Console runs.
import type { AuditActions } from '../../audit-action.ts';

export const RUNTIME_AUDIT_ACTIONS = {
  'loop.run': 'A loop was run by hand.',
} as const satisfies AuditActions;
