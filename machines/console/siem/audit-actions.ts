// What is written into the audit log about SIEM destinations.
import type { AuditActions } from '../../audit-action.ts';

export const SIEM_AUDIT_ACTIONS = {
  'siem.create': 'A SIEM destination was added.',
  'siem.change': 'A SIEM destination was changed.',
  'siem.pause': 'Forwarding to a SIEM destination was paused.',
  'siem.resume': 'Forwarding to a SIEM destination was resumed, perhaps from an earlier instant.',
  'siem.remove': 'A SIEM destination was removed.',
  'siem.test': 'A test event was sent to a SIEM destination.',
} as const satisfies AuditActions;
