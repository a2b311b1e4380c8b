// The one catalogue of audit actions; a retired one is never used for something else, since old rows keep their words.
import { ACCESS_AUDIT_ACTIONS } from './console/access/audit-actions.ts';
import { AUDIT_AUDIT_ACTIONS } from './console/audit/audit-actions.ts';
import { CONTAINMENT_AUDIT_ACTIONS } from './console/containment/audit-actions.ts';
import { DELIVERY_AUDIT_ACTIONS } from './console/delivery/audit-actions.ts';
import { DETECTION_AUDIT_ACTIONS } from './console/detection/audit-actions.ts';
import { DIGEST_AUDIT_ACTIONS } from './console/digest/audit-actions.ts';
import { EXPORT_AUDIT_ACTIONS } from './console/exports/audit-actions.ts';
import { FLEET_AUDIT_ACTIONS } from './console/fleet/audit-actions.ts';
import { HUNTING_AUDIT_ACTIONS } from './console/hunting/audit-actions.ts';
import { LICENSE_AUDIT_ACTIONS } from './console/license/audit-actions.ts';
import { POLICY_AUDIT_ACTIONS } from './console/policy/audit-actions.ts';
import { RUNTIME_AUDIT_ACTIONS } from './console/runtime/audit-actions.ts';
import { SETTINGS_AUDIT_ACTIONS } from './console/settings/audit-actions.ts';
import { SIEM_AUDIT_ACTIONS } from './console/siem/audit-actions.ts';
import { TELEMETRY_AUDIT_ACTIONS } from './console/telemetry/audit-actions.ts';
import { TRUST_AUDIT_ACTIONS } from './console/trust/audit-actions.ts';

// One line for each capability that declares actions of its own.
export const AUDIT_ACTIONS = {
  ...ACCESS_AUDIT_ACTIONS,
  ...AUDIT_AUDIT_ACTIONS,
  ...CONTAINMENT_AUDIT_ACTIONS,
  ...DELIVERY_AUDIT_ACTIONS,
  ...DETECTION_AUDIT_ACTIONS,
  ...DIGEST_AUDIT_ACTIONS,
  ...EXPORT_AUDIT_ACTIONS,
  ...FLEET_AUDIT_ACTIONS,
  ...HUNTING_AUDIT_ACTIONS,
  ...LICENSE_AUDIT_ACTIONS,
  ...POLICY_AUDIT_ACTIONS,
  ...RUNTIME_AUDIT_ACTIONS,
  ...SETTINGS_AUDIT_ACTIONS,
  ...SIEM_AUDIT_ACTIONS,
  ...TELEMETRY_AUDIT_ACTIONS,
  ...TRUST_AUDIT_ACTIONS,
} as const;

/** A change or a read that was refused is written under its method and route. */
export type AuditAction = keyof typeof AUDIT_ACTIONS | `${string} /${string}`;
