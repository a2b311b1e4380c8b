import { describe, expect, it } from 'vitest';
import { firstMissing } from './launch.js';

const LOCKED = {
  '': { version: '0.1.0' },
  'node_modules/pg': { version: '8.0.0' },
  'node_modules/vitest': { version: '5.0.0', dev: true },
  'node_modules/engine-darwin': { version: '1.0.0', optional: true },
};
const PG = { 'node_modules/pg': { version: '8.0.0' } };
const ALL = { ...PG, 'node_modules/vitest': { version: '5.0.0' } };

describe('what is installed', () => {
  it('should be enough when every package of the lock file is there, but for optional ones', () => {
    expect(firstMissing(LOCKED, ALL, true)).toBeNull();
  });

  it('should lack a package that the lock file gained', () => {
    const gained = { ...LOCKED, 'node_modules/react': { version: '19.0.0' } };
    expect(firstMissing(gained, ALL, true)).toBe('node_modules/react');
  });

  it('should lack nothing in production without what only development needs', () => {
    expect(firstMissing(LOCKED, PG, false)).toBeNull();
    expect(firstMissing(LOCKED, PG, true)).toBe('node_modules/vitest');
  });

  it.each([
    ['of another version', { ...ALL, 'node_modules/pg': { version: '7.0.0' } }, 'node_modules/pg'],
    [
      'that left the lock file',
      { ...ALL, 'node_modules/old': { version: '1.0.0' } },
      'node_modules/old',
    ],
    [
      'optional and of another version',
      { ...ALL, 'node_modules/engine-darwin': { version: '2.0.0' } },
      'node_modules/engine-darwin',
    ],
  ])('should not hold a package %s', (_, installed, path) => {
    expect(firstMissing(LOCKED, installed, true)).toBe(path);
  });
});
