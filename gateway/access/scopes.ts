// What an API key may do on the operator plane. `admin` holds every scope; a route names exactly one.
export const SCOPES = [
  'sensors:read',
  'sensors:write',
  'tokens:read',
  'tokens:write',
  'events:read',
  'system:read',
  'metrics:read',
  'audit:read',
  'license:read',
  'license:write',
] as const;
export type Scope = (typeof SCOPES)[number];

/** Scopes of the key that the quick start makes. */
export const ADMIN_SCOPES: readonly string[] = ['admin'];

/** Whether a key's scopes cover what a route asks. */
export function hasScope(held: readonly string[], wanted: Scope): boolean {
  return held.includes('admin') || held.includes(wanted);
}
