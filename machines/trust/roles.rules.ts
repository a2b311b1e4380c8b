// What the five roles of operators may do. A role is a set of scopes; every route names the one scope it needs, and an
// API key holds the part of its maker's role that its own scopes leave over. decision: D36; invariant: I18
export const ROLES = ['viewer', 'analyst', 'sensor_owner', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export const ROLE_LEVELS: Readonly<Record<Role, number>> = {
  viewer: 1,
  analyst: 2,
  sensor_owner: 3,
  operator: 3,
  admin: 4,
};

/** Everything a route may ask for. Those of resources that are still to come are reserved, so that keys may hold them. */
export const SCOPES = [
  'sensors:read',
  'sensors:write',
  'tokens:read',
  'tokens:write',
  'events:read',
  'system:read',
  'system:write',
  'metrics:read',
  'audit:read',
  'license:read',
  'license:write',
  'users:read',
  'users:write',
  'teams:read',
  'teams:write',
  'groups:read',
  'groups:write',
  'settings:read',
  'settings:write',
  'sso:read',
  'sso:write',
  'policies:read',
  'policies:write',
  'exercises:read',
  'exercises:write',
  'alerts:read',
  'alerts:write',
  'investigations:read',
  'investigations:write',
] as const;
export type Scope = (typeof SCOPES)[number];

const VIEWER: readonly Scope[] = [
  'sensors:read',
  'events:read',
  'system:read',
  'metrics:read',
  'license:read',
  'teams:read',
  'groups:read',
  'policies:read',
  'exercises:read',
  'alerts:read',
  'investigations:read',
];
const ANALYST: readonly Scope[] = [...VIEWER, 'alerts:write', 'investigations:write'];

/** The scopes of each role. A sensor owner's `sensors:write` reaches the sensors of its teams and its own list only. */
export const ROLE_SCOPES: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: VIEWER,
  analyst: ANALYST,
  sensor_owner: [...ANALYST, 'sensors:write'],
  operator: [
    ...ANALYST,
    'sensors:write',
    'tokens:read',
    'tokens:write',
    'groups:write',
    'policies:write',
    'exercises:write',
    'audit:read',
    'settings:read',
  ],
  admin: SCOPES,
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
