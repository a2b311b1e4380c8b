// The refusals that capabilities declare, one line each, in any order. decision: D174
export { ACCESS_ERRORS } from './access/errors.ts';
export { DELIVERY_ERRORS } from './delivery/errors.ts';
export { DETECTION_ERRORS } from './detection/errors.ts';
export { DIGEST_ERRORS } from './digest/errors.ts';
export { EXPORT_ERRORS } from './exports/errors.ts';
export { FLEET_ERRORS } from './fleet/errors.ts';
export { HUNTING_ERRORS } from './hunting/errors.ts';
export { LICENSE_ERRORS } from './license/errors.ts';
export { POLICY_ERRORS } from './policy/errors.ts';
export { RUNTIME_ERRORS } from './runtime/errors.ts';
export { SETTINGS_ERRORS } from './settings/errors.ts';
export { SIEM_ERRORS } from './siem/errors.ts';
export { TELEMETRY_ERRORS } from './telemetry/errors.ts';
export { TRUST_ERRORS } from './trust/errors.ts';
