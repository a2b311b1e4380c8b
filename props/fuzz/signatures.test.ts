import { ed25519 } from '@noble/curves/ed25519.js';
import { describe, expect, it } from 'vitest';
import { compareJudges } from './signatures.ts';

const seed = Number(process.env['PROPS_SEED'] ?? 20_261_121);

describe('mutated signatures', () => {
  it('should be taken only if node:crypto, strict noble and the program openssl take them', () => {
    const run = compareJudges({ count: 240, seed });
    expect(run.differing).toEqual([]);
    expect(run.taken).toBeGreaterThan(5);
    expect(run.byMutation.size).toBe(12);
    const few = compareJudges({ count: 24, seed: seed + 1, alsoOpenssl: true });
    expect(few.differing).toEqual([]);
  });

  it('should show a judge that asks one library alone', () => {
    const alone = compareJudges({
      ...{ count: 120, seed },
      judge: (signature, message, key) => {
        try {
          return ed25519.verify(signature, message, key, { zip215: false });
        } catch {
          return false;
        }
      },
    });
    expect(alone.differing.join('\n')).toMatch(/a small order in R, refused by node:crypto/);
  });
});
