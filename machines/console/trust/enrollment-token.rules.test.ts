import { describe, expect, it } from 'vitest';
import { presentToken, refusalOfToken, type TokenFacts } from './enrollment-token.rules.ts';

const END_MS = 1_000;
const UNUSED = { expiresAtMs: END_MS, revokedAtMs: null, consumedKeyDigest: null };

describe('enrollment token rules', () => {
  it('should refuse a token from its last instant on', () => {
    expect(refusalOfToken(UNUSED, END_MS - 1)).toBeNull();
    expect(refusalOfToken(UNUSED, END_MS)).toBe('token_expired');
  });

  it('should name a withdrawal before an expiry, and an expiry before a use', () => {
    const used = { ...UNUSED, consumedKeyDigest: 'other' };
    const present = (facts: TokenFacts, nowMs: number) =>
      presentToken(facts, { keyDigest: 'mine', nowMs });
    expect(present({ ...used, revokedAtMs: 0 }, END_MS)).toBe('token_invalid');
    expect(present(used, END_MS)).toBe('token_expired');
    expect(present(used, 0)).toBe('token_consumed');
    expect(present({ ...UNUSED, consumedKeyDigest: 'mine' }, 0)).toBe('repeat');
    expect(present(UNUSED, 0)).toBe('grant');
  });
});
