// A hasher that costs next to nothing: for tests and the simulated fleet, where nobody guesses.
import { createHash } from 'node:crypto';
import type { PasswordHasher } from '../../ports/access/password-hasher.ts';

const PREFIX = '$cheap$';

/** Makes the hasher. */
export function createCheapHasher(): PasswordHasher {
  const hashOf = (password: string) =>
    PREFIX + createHash('sha256').update(password).digest('base64url');
  return {
    hash: async (password) => hashOf(password),
    verify: async (stored, password) => stored === hashOf(password),
    isOutdated: () => false,
  };
}
