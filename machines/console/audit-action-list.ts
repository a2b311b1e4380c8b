// The audit actions that capabilities declare, one line each, in any order. decision: D174
export { ACCESS_AUDIT_ACTIONS } from './access/audit-actions.ts';
export { AUDIT_AUDIT_ACTIONS } from './audit/audit-actions.ts';
export { CONTAINMENT_AUDIT_ACTIONS } from './containment/audit-actions.ts';
export { DELIVERY_AUDIT_ACTIONS } from './delivery/audit-actions.ts';
export { DETECTION_AUDIT_ACTIONS } from './detection/audit-actions.ts';
export { DIGEST_AUDIT_ACTIONS } from './digest/audit-actions.ts';
export { EXPORT_AUDIT_ACTIONS } from './exports/audit-actions.ts';
export { FLEET_AUDIT_ACTIONS } from './fleet/audit-actions.ts';
export { HUNTING_AUDIT_ACTIONS } from './hunting/audit-actions.ts';
export { LICENSE_AUDIT_ACTIONS } from './license/audit-actions.ts';
export { POLICY_AUDIT_ACTIONS } from './policy/audit-actions.ts';
export { RUNTIME_AUDIT_ACTIONS } from './runtime/audit-actions.ts';
export { SETTINGS_AUDIT_ACTIONS } from './settings/audit-actions.ts';
export { SIEM_AUDIT_ACTIONS } from './siem/audit-actions.ts';
export { TELEMETRY_AUDIT_ACTIONS } from './telemetry/audit-actions.ts';
export { TRUST_AUDIT_ACTIONS } from './trust/audit-actions.ts';
