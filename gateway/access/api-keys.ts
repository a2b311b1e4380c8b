// Who calls the operator plane: a bearer API key, found by the SHA-256 of the secret. A mistyped or foreign secret is
// refused by its checksum before the database is asked. A client certificate is never a credential here.
// decision: D15, D19; invariant: I11
import { createHash } from 'node:crypto';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { KEYS_REMEMBERED_MAX } from '../../machines/limits.ts';
import { kindOfSecret } from '../../machines/trust/secret.rules.ts';
import type { ApiKeyRow, ApiKeys } from '../../storage/ports/relational.ts';
import { addressKey, type BudgetState, type RateBudget } from './rate-budget.ts';

/** The caller of one request; `actor` names it in the audit log. */
export type Operator = {
  readonly keyId: string;
  readonly actor: string;
  readonly scopes: readonly string[];
  readonly hash: Buffer;
};

export type Admission = {
  /** The budget that was asked last, for the RateLimit headers. */
  readonly budget: { readonly name: string; readonly state: BudgetState } | null;
  readonly result: { readonly ok: true; readonly operator: Operator } | Refusal;
};

export type Admitter = {
  /** Judges the Authorization header of a request from an address. Rejects with StoreUnavailable. */
  admit(authorization: string | undefined, address: string): Promise<Admission>;
  /** Takes an anonymous request from the address budget. */
  admitAnonymous(address: string): Promise<{ readonly budget: BudgetState; readonly ok: boolean }>;
  /** Whether a key that was good is good now. Rejects with StoreUnavailable. */
  isStillGood(operator: Operator): Promise<boolean>;
};

export type AdmitterDeps = {
  readonly apiKeys: Pick<ApiKeys, 'findByHash'>;
  readonly keyBudget: RateBudget;
  readonly addressBudget: RateBudget;
  readonly now: () => number;
};

/** Makes the judge of operator credentials. */
export function createAdmitter(deps: AdmitterDeps): Admitter {
  // Keys that were good lately pass an exhausted address budget: a neighbour's guesses must not lock an operator out.
  const remembered = new Set<string>();

  async function find(hash: Buffer): Promise<ApiKeyRow | null> {
    const row = await deps.apiKeys.findByHash(hash);
    return row !== null && isUsable(row, deps.now()) ? row : null;
  }

  async function admit(authorization: string | undefined, address: string): Promise<Admission> {
    const secret = bearerOf(authorization);
    const hash = createHash('sha256')
      .update(secret ?? '')
      .digest();
    const isKnown = secret !== null && remembered.has(hash.toString('hex'));
    const guess = isKnown ? null : await deps.addressBudget.consume(addressKey(address));
    const budget = guess === null ? null : { name: 'unauthenticated', state: guess };
    if (guess !== null && !guess.allowed) return { budget, result: limited(guess) };
    if (secret === null) return { budget, result: absent(authorization) };
    const row = kindOfSecret(secret) === 'apiKey' ? await find(hash) : null;
    if (row === null) {
      remembered.delete(hash.toString('hex'));
      return { budget, result: refuse('credential_invalid', 'The API key is not known or ended.') };
    }
    if (guess !== null) await deps.addressBudget.reward(addressKey(address));
    remember(remembered, hash.toString('hex'));
    const own = await deps.keyBudget.consume(row.keyId);
    const result = own.allowed
      ? { ok: true as const, operator: operatorOf(row, hash) }
      : limited(own);
    return { budget: { name: 'key', state: own }, result };
  }

  return {
    admit,
    async admitAnonymous(address) {
      const budget = await deps.addressBudget.consume(addressKey(address));
      return { budget, ok: budget.allowed };
    },
    isStillGood: async (operator) => (await find(operator.hash)) !== null,
  };
}

function remember(keys: Set<string>, key: string): void {
  keys.delete(key);
  keys.add(key);
  if (keys.size <= KEYS_REMEMBERED_MAX) return;
  const [oldest] = keys;
  if (oldest !== undefined) keys.delete(oldest);
}

function operatorOf(row: ApiKeyRow, hash: Buffer): Operator {
  return { keyId: row.keyId, actor: `api-key:${row.name}`, scopes: row.scopes, hash };
}

function isUsable(row: ApiKeyRow, nowMs: number): boolean {
  return row.revokedAtMs === null && (row.expiresAtMs === null || nowMs < row.expiresAtMs);
}

function bearerOf(authorization: string | undefined): string | null {
  const match = /^Bearer +([0-9A-Za-z_]{1,128}) *$/i.exec(authorization ?? '');
  return match?.[1] ?? null;
}

function absent(authorization: string | undefined): Refusal {
  return authorization === undefined || authorization === ''
    ? refuse('credential_required', 'This address needs an API key as a bearer token.')
    : refuse('credential_invalid', 'The Authorization header holds no usable bearer token.');
}

/** The refusal of an exhausted budget. */
export function limited(state: BudgetState): Refusal {
  return refuse('rate_limited', `The budget of ${state.limit} requests a minute is used up.`, {
    retryAfterMs: state.resetMs,
  });
}
