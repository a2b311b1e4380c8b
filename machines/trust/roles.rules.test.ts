// What the roles hold, and who may give which, by example.
import { describe, expect, it } from 'vitest';
import {
  actsOnOwnedOnly,
  mayChangeRole,
  ROLE_LEVELS,
  ROLE_SCOPES,
  ROLES,
  type Role,
  SCOPES,
  scopesOf,
} from './roles.rules.ts';

const changes = ROLES.flatMap((from) => ROLES.map((to) => ({ from, to })));

describe('a role', () => {
  it('should hold what the roles below it hold', () => {
    const chain: readonly Role[] = ['viewer', 'analyst', 'sensor_owner', 'operator', 'admin'];
    for (const [index, role] of chain.slice(1).entries()) {
      const below = chain[index] ?? role;
      expect(ROLE_SCOPES[role]).toEqual(expect.arrayContaining([...ROLE_SCOPES[below]]));
      expect(ROLE_LEVELS[role]).toBeGreaterThanOrEqual(ROLE_LEVELS[below]);
    }
    expect(ROLE_SCOPES.admin).toEqual(SCOPES);
  });

  it('should change nothing below level 2, and no person below level 4', () => {
    expect(ROLE_SCOPES.viewer.filter((scope) => scope.endsWith(':write'))).toEqual([]);
    const ofPeople = ROLES.filter((role) =>
      ROLE_SCOPES[role].some((scope) => /^(users|teams|sso|settings|license):write$/.test(scope)),
    );
    expect(ofPeople).toEqual(['admin']);
  });

  it('should act on owned sensors only when it is an owner', () => {
    expect(ROLES.filter(actsOnOwnedOnly)).toEqual(['sensor_owner']);
  });
});

describe('the scopes of a key', () => {
  it('should be what its own leave of its maker', () => {
    expect(scopesOf('viewer', ['sensors:read', 'sensors:write', 'nonsense'])).toEqual([
      'sensors:read',
    ]);
    expect(scopesOf('viewer', [])).toEqual([]);
    expect(scopesOf('operator', ['admin'])).toEqual(ROLE_SCOPES.operator);
    expect(scopesOf('operator', null)).toEqual(ROLE_SCOPES.operator);
  });
});

describe('a change of role', () => {
  it('should never be made by a role that raises nobody', () => {
    for (const by of ROLES.filter((role) => role !== 'admin')) {
      for (const { from, to } of changes) {
        if (!mayChangeRole(by, { from, to })) continue;
        expect(ROLE_LEVELS[to]).toBeLessThanOrEqual(ROLE_LEVELS[from]);
        expect(ROLE_LEVELS[from]).toBeLessThan(ROLE_LEVELS[by]);
      }
    }
    expect(mayChangeRole('operator', { from: 'viewer', to: 'analyst' })).toBe(false);
    expect(mayChangeRole('operator', { from: 'operator', to: 'admin' })).toBe(false);
    expect(mayChangeRole('operator', { from: 'admin', to: 'viewer' })).toBe(false);
    expect(mayChangeRole('operator', { from: 'analyst', to: 'viewer' })).toBe(true);
  });

  it('should be any for an admin', () => {
    expect(changes.every((change) => mayChangeRole('admin', change))).toBe(true);
  });
});
