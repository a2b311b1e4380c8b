// How a capability declares what a route of its own may ask for: each scope, and the roles that hold it. decision: D36
export const ROLES = ['viewer', 'analyst', 'sensor_owner', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];
export type ScopeHolders = Readonly<Record<string, readonly Role[]>>;

export const EVERYBODY: readonly Role[] = [...ROLES];
export const ANALYSTS: readonly Role[] = ['analyst', 'sensor_owner', 'operator', 'admin'];
export const OWNERS: readonly Role[] = ['sensor_owner', 'operator', 'admin'];
export const OPERATORS: readonly Role[] = ['operator', 'admin'];
export const ADMINS: readonly Role[] = ['admin'];
