// What is written into the audit log about webhooks and deliveries.
import type { AuditActions } from '../../audit-action.ts';

export const DELIVERY_AUDIT_ACTIONS = {
  'webhook.create': 'A webhook was added.',
  'webhook.change': 'A webhook was changed, paused or resumed.',
  'webhook.remove': 'A webhook was removed, and its deliveries with it.',
  'webhook.rotate_secret': 'A webhook was given another signing secret, or its overlap was ended.',
  'webhook.test': 'A test was sent to a webhook.',
  'delivery.replay': 'Deliveries were ordered to be sent again.',
} as const satisfies AuditActions;
