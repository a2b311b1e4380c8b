// The settings that capabilities declare, one line each, in any order. decision: D38, D174
export { ACCESS_SETTINGS } from './access/settings.ts';
export { DELIVERY_SETTINGS } from './delivery/settings.ts';
export { FEDERATION_SETTINGS } from './federation/settings.ts';
export { LICENSE_SETTINGS } from './license/settings.ts';
export { POLICY_SETTINGS } from './policy/settings.ts';
export { TELEMETRY_SETTINGS } from './telemetry/settings.ts';
export { TRUST_SETTINGS } from './trust/settings.ts';
