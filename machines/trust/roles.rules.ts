// What the five roles of operators may do. A role is a set of scopes; every route names the one scope it needs, and an
// API key holds the part of its maker's role that its own scopes leave over. decision: D36; invariant: I18
import * as LIST from '../console/scope-list.ts';
import { joined } from '../joined.ts';
import { ROLES, type Role } from './scope.ts';

export { ROLES, type Role };

export const ROLE_LEVELS: Readonly<Record<Role, number>> = {
  viewer: 1,
  analyst: 2,
  sensor_owner: 3,
  operator: 3,
  admin: 4,
};

/** Everything a route may ask for, and who holds it. */
const HOLDERS = joined(LIST);
export type Scope = keyof typeof HOLDERS;
export const SCOPES = (Object.keys(HOLDERS) as readonly Scope[]).toSorted();

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
