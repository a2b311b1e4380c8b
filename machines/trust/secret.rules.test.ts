import { describe, expect, it } from 'vitest';
import { formatSecret, kindOfSecret } from './secret.rules.ts';

// Reckoned apart from this code: base62 of the bytes read as one big-endian number, then the CRC-32 that zlib gives.
const KNOWN = [
  ['enrollment', (at: number) => at + 1, 'svce_0Eoh211G4c8wtVWM00my5rsNSFlKgaWqQ4mb8gdEqno2ZHGtR'],
  ['apiKey', () => 255, 'svck_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp14QMyEB'],
  ['reenrollment', () => 0, 'svcr_000000000000000000000000000000000000000000042SDAw'],
] as const;

describe('secret rules', () => {
  it.each(KNOWN)('should format a secret for %s as anyone else would', (kind, byteAt, text) => {
    expect(
      formatSecret(
        kind,
        Uint8Array.from({ length: 32 }, (_, at) => byteAt(at)),
      ),
    ).toBe(text);
    expect(kindOfSecret(text)).toBe(kind);
  });

  it('should make no secret of fewer or more than 32 bytes', () => {
    for (const length of [0, 31, 33]) {
      expect(() => formatSecret('apiKey', new Uint8Array(length))).toThrow('32 random bytes');
    }
  });

  it('should know no secret in text of other characters, even with the checksum that fits it', () => {
    const [dashes, oneDash] = ['-'.repeat(43), `${'0'.repeat(42)}-`];
    expect(kindOfSecret(`svce_${dashes}1eUG4X`)).toBeNull();
    expect(kindOfSecret(`svce_${oneDash}1ebvQ3`)).toBeNull();
  });
});
