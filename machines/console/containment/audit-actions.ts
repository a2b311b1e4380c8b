// What is written into the audit log about containment.
import type { AuditActions } from '../../audit-action.ts';

export const CONTAINMENT_AUDIT_ACTIONS = {
  'sensor.contain': 'A node was ordered to be cut off from the network.',
  'sensor.release': 'A contained node was ordered to be let go.',
} as const satisfies AuditActions;
