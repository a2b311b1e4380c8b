// What is written into the audit log about digests.
import type { AuditActions } from '../../audit-action.ts';

export const DIGEST_AUDIT_ACTIONS = {
  'digest.create': 'A daily digest was set up.',
  'digest.change': 'A daily digest was changed, or switched on or off.',
  'digest.remove': 'A daily digest was removed.',
  'digest.test': 'A digest was sent as a test.',
} as const satisfies AuditActions;
