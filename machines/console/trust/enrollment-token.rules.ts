// What a token is good for at an instant. Withdrawn before expired before used: the first reason that holds is the
// answer. Its last instant is already too late. invariant: I2
import type { ErrorCode } from '../../errors.ts';

export type TokenFacts = {
  readonly expiresAtMs: number;
  readonly revokedAtMs: number | null;
  /** Digest of the key that consumed it; null while it is unused. */
  readonly consumedKeyDigest: string | null;
};

export type TokenRefusal = Extract<ErrorCode, 'token_invalid' | 'token_expired' | 'token_consumed'>;

/** Why a token is refused before its holder's key is looked at; null when it may go on. */
export function refusalOfToken(
  facts: Omit<TokenFacts, 'consumedKeyDigest'>,
  nowMs: number,
): TokenRefusal | null {
  if (facts.revokedAtMs !== null) return 'token_invalid';
  return nowMs >= facts.expiresAtMs ? 'token_expired' : null;
}

/** What a token gives to one key: a new identity, the same answer again, or a refusal. */
export function presentToken(
  facts: TokenFacts,
  presented: { readonly keyDigest: string; readonly nowMs: number },
): 'grant' | 'repeat' | TokenRefusal {
  const refused = refusalOfToken(facts, presented.nowMs);
  if (refused !== null) return refused;
  if (facts.consumedKeyDigest === null) return 'grant';
  return facts.consumedKeyDigest === presented.keyDigest ? 'repeat' : 'token_consumed';
}
