// The key of whoever starts a Console on this machine. Its secret is told once. decision: D17; invariant: I11
import { randomBytes } from 'node:crypto';
import { hashOfSecret } from '../../actors/trust/tokens.ts';
import { newId } from '../../actors/trust/uuid-v7.ts';
import { formatSecret, SECRET_RANDOM_BYTES } from '../../machines/trust/secret.rules.ts';
import type { ApiKeys } from '../../storage/ports/relational.ts';
import { ADMIN_SCOPES } from './scopes.ts';

/** Makes an admin API key and gives its secret back. */
export async function createAdminKey(
  apiKeys: Pick<ApiKeys, 'create'>,
  { name, nowMs }: { readonly name: string; readonly nowMs: number },
): Promise<string> {
  const secret = formatSecret('apiKey', randomBytes(SECRET_RANDOM_BYTES));
  await apiKeys.create({
    keyId: newId(),
    hash: hashOfSecret(secret),
    name,
    scopes: ADMIN_SCOPES,
    nowMs,
    expiresAtMs: null,
    actor: 'quick-start',
  });
  return secret;
}
