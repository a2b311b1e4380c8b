// What the five roles of operators may do. A role is a set of scopes; every route names the one scope it needs, and an
// API key holds the part of its maker's role that its own scopes leave over. decision: D36; invariant: I18
import { ACCESS_SCOPES } from '../console/access/scopes.ts';
import { AUDIT_SCOPES } from '../console/audit/scopes.ts';
import { DELIVERY_SCOPES } from '../console/delivery/scopes.ts';
import { DETECTION_SCOPES } from '../console/detection/scopes.ts';
import { DIGEST_SCOPES } from '../console/digest/scopes.ts';
import { EXPORT_SCOPES } from '../console/exports/scopes.ts';
import { FLEET_SCOPES } from '../console/fleet/scopes.ts';
import { HUNTING_SCOPES } from '../console/hunting/scopes.ts';
import { LICENSE_SCOPES } from '../console/license/scopes.ts';
import { POLICY_SCOPES } from '../console/policy/scopes.ts';
import { SETTINGS_SCOPES } from '../console/settings/scopes.ts';
import { SIEM_SCOPES } from '../console/siem/scopes.ts';
import { SYSTEM_SCOPES } from '../console/system/scopes.ts';
import { TELEMETRY_SCOPES } from '../console/telemetry/scopes.ts';
import { TRUST_SCOPES } from '../console/trust/scopes.ts';
import { ROLES, type Role } from './scope.ts';

export { ROLES, type Role };

export const ROLE_LEVELS: Readonly<Record<Role, number>> = {
  viewer: 1,
  analyst: 2,
  sensor_owner: 3,
  operator: 3,
  admin: 4,
};

/** Everything a route may ask for, and who holds it: one line for each capability that declares scopes. */
const HOLDERS = {
  ...FLEET_SCOPES,
  ...TRUST_SCOPES,
  ...TELEMETRY_SCOPES,
  ...SYSTEM_SCOPES,
  ...AUDIT_SCOPES,
  ...LICENSE_SCOPES,
  ...ACCESS_SCOPES,
  ...SETTINGS_SCOPES,
  ...POLICY_SCOPES,
  ...DETECTION_SCOPES,
  ...DELIVERY_SCOPES,
  ...DIGEST_SCOPES,
  ...EXPORT_SCOPES,
  ...SIEM_SCOPES,
  ...HUNTING_SCOPES,
};
export type Scope = keyof typeof HOLDERS;
export const SCOPES = Object.keys(HOLDERS) as readonly Scope[];

const heldBy = (role: Role): readonly Scope[] =>
  SCOPES.filter((scope) => HOLDERS[scope].includes(role));

/** The scopes of each role. A sensor owner's `sensors:write` reaches the sensors of its teams and its own list only. */
export const ROLE_SCOPES: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: heldBy('viewer'),
  analyst: heldBy('analyst'),
  sensor_owner: heldBy('sensor_owner'),
  operator: heldBy('operator'),
  admin: heldBy('admin'),
};

/** What a key of this role may do: the role's scopes, cut by the key's own; `admin` cuts nothing. */
export function scopesOf(role: Role, own: readonly string[] | null): readonly Scope[] {
  const scopes = ROLE_SCOPES[role];
  if (own === null || own.includes('admin')) return scopes;
  return scopes.filter((scope) => own.includes(scope));
}

/** Whether a role acts only on the sensors it owns. */
export function actsOnOwnedOnly(role: Role): boolean {
  return role === 'sensor_owner';
}

/** Whether `by` may give a user the role `to` in place of `from`: raising takes an admin, and so does touching one. */
export function mayChangeRole(
  by: Role,
  change: { readonly from: Role; readonly to: Role },
): boolean {
  if (by === 'admin') return true;
  const { from, to } = change;
  return ROLE_LEVELS[to] <= ROLE_LEVELS[from] && ROLE_LEVELS[from] < ROLE_LEVELS[by];
}
