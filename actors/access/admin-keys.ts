// API keys as a starting Console makes them for itself, before there is an operator. decision: D17; invariant: I11
import { API_KEY_TTL_DEFAULT_MS } from '../../machines/limits.ts';
import { formatSecret, SECRET_RANDOM_BYTES } from '../../machines/trust/secret.rules.ts';
import type { ApiKeys } from '../../storage/ports/access/api-keys.ts';
import type { Chance } from '../trust/chance.ts';
import { hashOfSecret } from '../trust/tokens.ts';

const DAY_MS = 86_400_000;

export type AdminKeys = {
  /**
   * Makes an admin API key that belongs to an admin and ends, in place of another; the secret is told once. Null when its
   * owner has no room for one.
   */
  createAdminKey(
    name: string,
    of: { readonly ownerId: string; readonly replaces: string | null },
  ): Promise<string | null>;
  /** Whether an API key of somebody still works, and will for a day. */
  isGoodKey(secret: string): Promise<boolean>;
};

/** Makes both on the store of keys. */
export function createAdminKeys(
  apiKeys: Pick<ApiKeys, 'create' | 'findByHash' | 'revoke'>,
  { now, chance }: { readonly now: () => number; readonly chance: Chance },
): AdminKeys {
  return {
    async createAdminKey(name, { ownerId: userId, replaces }) {
      const old = replaces === null ? null : await apiKeys.findByHash(hashOfSecret(replaces));
      if (old !== null) {
        await apiKeys.revoke({ keyId: old.keyId, nowMs: now(), actor: 'quick-start' });
      }
      const secret = formatSecret('apiKey', chance.randomBytes(SECRET_RANDOM_BYTES));
      const made = await apiKeys.create({
        keyId: chance.newId(),
        hash: hashOfSecret(secret),
        name,
        scopes: ['admin'],
        nowMs: now(),
        expiresAtMs: now() + API_KEY_TTL_DEFAULT_MS,
        userId,
        actor: 'quick-start',
      });
      return made === 'created' ? secret : null;
    },
    async isGoodKey(secret) {
      const row = await apiKeys.findByHash(hashOfSecret(secret));
      if (row === null || row.userId === null || row.revokedAtMs !== null) return false;
      return row.expiresAtMs !== null && row.expiresAtMs - now() > DAY_MS;
    },
  };
}
