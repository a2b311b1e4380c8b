// API keys as a starting Console makes them for itself, before there is an operator. decision: D17; invariant: I11

import { formatSecret, SECRET_RANDOM_BYTES } from '../../machines/trust/secret.rules.ts';
import type { ApiKeys } from '../../storage/ports/relational.ts';
import type { Chance } from '../trust/chance.ts';
import { hashOfSecret } from '../trust/tokens.ts';

export type AdminKeys = {
  /** Makes an admin API key; the secret is told once. */
  createAdminKey(name: string): Promise<string>;
  /** Whether an API key still works. */
  isGoodKey(secret: string): Promise<boolean>;
};

/** Makes both on the store of keys. */
export function createAdminKeys(
  apiKeys: Pick<ApiKeys, 'create' | 'findByHash'>,
  { now, chance }: { readonly now: () => number; readonly chance: Chance },
): AdminKeys {
  return {
    async createAdminKey(name) {
      const secret = formatSecret('apiKey', chance.randomBytes(SECRET_RANDOM_BYTES));
      await apiKeys.create({
        keyId: chance.newId(),
        hash: hashOfSecret(secret),
        name,
        scopes: ['admin'],
        nowMs: now(),
        expiresAtMs: null,
        actor: 'quick-start',
      });
      return secret;
    },
    async isGoodKey(secret) {
      const row = await apiKeys.findByHash(hashOfSecret(secret));
      return row !== null && row.revokedAtMs === null;
    },
  };
}
