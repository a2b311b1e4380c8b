// What is written into the audit log about streams of sensors.
import type { AuditActions } from '../../audit-action.ts';

export const TELEMETRY_AUDIT_ACTIONS = {
  'sensor.stream': 'A stream was opened, or refused.',
} as const satisfies AuditActions;
