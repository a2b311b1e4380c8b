// What is written into the audit log about the audit log itself.
import type { AuditActions } from '../../audit-action.ts';

export const AUDIT_AUDIT_ACTIONS = {
  'audit.export': 'The log was exported.',
} as const satisfies AuditActions;
