import { describe, expect, it } from 'vitest';
import { stepAt } from '../../machines/console/access/second-factor.rules.ts';
import { TOTP_SECRET_BYTES, TOTP_STEP_MS } from '../../machines/limits.ts';
import { systemChance } from '../trust/chance.ts';
import { newTotpSecret, qrSvgOf, stepOfCode, totpAddress } from './totp-secret.ts';

// RFC 6238, appendix B, the rows of SHA-1: the secret is the ASCII text 12345678901234567890, and of the eight digits an
// app with six shows the last six.
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const RFC_ROWS = [
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
] as const;

describe('totp', () => {
  it('should know the codes of the standard, at their instant and one step either side', () => {
    for (const [seconds, digits] of RFC_ROWS) {
      const [code, atMs] = [digits.slice(2), seconds * 1_000];
      const step = stepAt(atMs);
      expect(stepOfCode(RFC_SECRET, code, atMs)).toBe(step);
      expect(stepOfCode(RFC_SECRET, code, atMs - TOTP_STEP_MS)).toBe(step);
      expect(stepOfCode(RFC_SECRET, code, atMs + TOTP_STEP_MS)).toBe(step);
      expect(stepOfCode(RFC_SECRET, code, atMs + 2 * TOTP_STEP_MS)).toBeNull();
      expect(stepOfCode(RFC_SECRET, code, atMs - 2 * TOTP_STEP_MS)).toBeNull();
      expect(stepOfCode(newTotpSecret(systemChance), code, atMs)).toBeNull();
    }
  });

  it('should make a secret of 160 bits that never comes again', () => {
    const made = Array.from({ length: 50 }, () => newTotpSecret(systemChance));
    expect(new Set(made).size).toBe(50);
    for (const secret of made) expect(secret).toHaveLength((TOTP_SECRET_BYTES * 8) / 5);
  });

  it('should tell an app who issued the secret, for whom, and how codes are made', async () => {
    const of = { secret: RFC_SECRET, issuer: 'console.example', account: 'ann+x@example.org' };
    const address = new URL(totpAddress(of));
    expect([address.protocol, address.host]).toEqual(['otpauth:', 'totp']);
    expect(decodeURIComponent(address.pathname)).toBe('/console.example:ann+x@example.org');
    expect(Object.fromEntries(address.searchParams)).toEqual({
      ...{ issuer: 'console.example', secret: RFC_SECRET },
      ...{ algorithm: 'SHA1', digits: '6', period: '30' },
    });
    const svg = await qrSvgOf(address.href);
    expect(svg).toMatch(/^<svg [^>]*viewBox="0 0 \d+ \d+"/);
    expect(svg).not.toContain(RFC_SECRET);
  });
});
