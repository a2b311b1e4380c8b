// What is written into the audit log about alerts.
import type { AuditActions } from '../../audit-action.ts';

export const DETECTION_AUDIT_ACTIONS = {
  'alert.acknowledge': 'An alert was acknowledged.',
  'alert.resolve': 'An alert was resolved.',
  'alert.reopen': 'A resolved alert was opened again, as a new one.',
  'alert.assign': 'An alert was given to somebody, or to nobody.',
  'alert_rule.create': 'An alert rule was added.',
  'alert_rule.change': 'An alert rule was changed, switched on or off.',
  'alert_rule.remove': 'An alert rule was removed; its alerts stay.',
  'alert.comment': 'An alert was commented on.',
} as const satisfies AuditActions;
