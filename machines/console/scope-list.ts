// The scopes that capabilities declare, one line each, in any order. decision: D36, D174
export { ACCESS_SCOPES } from './access/scopes.ts';
export { AUDIT_SCOPES } from './audit/scopes.ts';
export { DELIVERY_SCOPES } from './delivery/scopes.ts';
export { DETECTION_SCOPES } from './detection/scopes.ts';
export { DIGEST_SCOPES } from './digest/scopes.ts';
export { EXPORT_SCOPES } from './exports/scopes.ts';
export { FLEET_SCOPES } from './fleet/scopes.ts';
export { HUNTING_SCOPES } from './hunting/scopes.ts';
export { LICENSE_SCOPES } from './license/scopes.ts';
export { POLICY_SCOPES } from './policy/scopes.ts';
export { SETTINGS_SCOPES } from './settings/scopes.ts';
export { SIEM_SCOPES } from './siem/scopes.ts';
export { SYSTEM_SCOPES } from './system/scopes.ts';
export { TELEMETRY_SCOPES } from './telemetry/scopes.ts';
export { TRUST_SCOPES } from './trust/scopes.ts';
