// What is written into the audit log about exports.
import type { AuditActions } from '../../audit-action.ts';

export const EXPORT_AUDIT_ACTIONS = {
  'export.target': 'The target of exports was set, changed or switched on or off.',
  'export.test': 'The target of exports was tried with a small object.',
  'export.run': 'A day was ordered to be exported again.',
} as const satisfies AuditActions;
