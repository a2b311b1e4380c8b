// What is written into the audit log about settings.
import type { AuditActions } from '../../audit-action.ts';

export const SETTINGS_AUDIT_ACTIONS = {
  'settings.change': 'Settings were changed.',
} as const satisfies AuditActions;
