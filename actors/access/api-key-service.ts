// Keys that people make for their programs: judged by the maker's role, bounded, told once. decision: D36, D43;
// invariant: I11, I18
import { type Refusal, refuse } from '../../machines/errors.ts';
import { API_KEYS_PER_USER_MAX } from '../../machines/limits.ts';
import { type KeyRequest, keyTermsOf } from '../../machines/trust/api-key.rules.ts';
import type { Role } from '../../machines/trust/roles.rules.ts';
import { formatSecret, SECRET_RANDOM_BYTES } from '../../machines/trust/secret.rules.ts';
import type { ApiKeyRow, ApiKeys } from '../../storage/ports/access/api-keys.ts';
import { type Chance, systemChance } from '../trust/chance.ts';
import { hashOfSecret } from '../trust/tokens.ts';

/** Who asks, and from where. */
export type KeyActor = { readonly actor: string; readonly from: string };
export type KeyMaker = KeyActor & {
  readonly userId: string;
  readonly role: Role;
  /** The hash of the session that asks; it must live while the key is made. */
  readonly session: Buffer;
};

export type ApiKeyService = {
  /** Makes a key; its secret is in this answer and nowhere else. */
  create(
    request: KeyRequest,
    maker: KeyMaker,
  ): Promise<{ readonly ok: true; readonly secret: string; readonly row: ApiKeyRow } | Refusal>;
  list: ApiKeys['list'];
  findByHash: ApiKeys['findByHash'];
  get: ApiKeys['get'];
  /** Ends a key for good; null when there is none, or it is not that of the person named. */
  revoke(
    key: { readonly keyId: string; readonly userId?: string },
    by: KeyActor,
  ): Promise<ApiKeyRow | null>;
};

/** Makes the service. */
export function createApiKeyService(deps: {
  readonly apiKeys: Pick<ApiKeys, 'create' | 'list' | 'findByHash' | 'get' | 'revoke'>;
  readonly now: () => number;
  readonly chance?: Chance;
}): ApiKeyService {
  const { apiKeys, now, chance = systemChance } = deps;
  return {
    async create(request, { actor, from, userId, role, session }) {
      const nowMs = now();
      const terms = keyTermsOf(request, { role, nowMs });
      if (!terms.ok) return terms;
      const { name, scopes, expiresAtMs } = terms;
      const secret = formatSecret('apiKey', chance.randomBytes(SECRET_RANDOM_BYTES));
      const key = { keyId: chance.newId(), name, scopes, userId, expiresAtMs };
      const hash = hashOfSecret(secret);
      const answer = await apiKeys.create({
        ...{ ...key, hash, nowMs, actor, from, bySession: session },
      });
      if (answer === 'created') {
        const times = { createdAtMs: nowMs, lastUsedAtMs: null, revokedAtMs: null };
        return { ok: true, secret, row: { ...key, ...times } };
      }
      if (answer === 'no_user') return refuse('credential_invalid', 'The account is gone.');
      if (answer === 'no_session') {
        return refuse('credential_invalid', 'The session is not known or ended.');
      }
      const detail = `A person has at most ${API_KEYS_PER_USER_MAX} keys that can be used.`;
      return refuse('bound_reached', detail);
    },
    list: apiKeys.list,
    findByHash: apiKeys.findByHash,
    get: apiKeys.get,
    revoke: (key, by) => apiKeys.revoke({ ...key, ...by, nowMs: now() }),
  };
}
