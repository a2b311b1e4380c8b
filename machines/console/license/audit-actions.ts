// What is written into the audit log about licenses.
import type { AuditActions } from '../../audit-action.ts';

export const LICENSE_AUDIT_ACTIONS = {
  'license.import': 'A license was imported, or refused.',
} as const satisfies AuditActions;
