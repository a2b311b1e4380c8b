import { ed25519 } from '@noble/curves/ed25519.js';
import { describe, expect, it } from 'vitest';
import { codeOf, filesLike } from '../tidy/files.ts';
import { compareJudges } from './signatures.ts';
import { VERIFIERS, type Verifier } from './verifiers.ts';

const seed = Number(process.env['PROPS_SEED'] ?? 20_261_121);

describe('mutated signatures', () => {
  it.each(VERIFIERS)(
    'should be taken only if node:crypto, strict noble and the program openssl take them: $name',
    async (verifier) => {
      const run = await compareJudges({ count: 240, seed, verifier });
      expect(run.differing).toEqual([]);
      expect(run.taken).toBeGreaterThan(5);
      expect(run.byMutation.size).toBe(12);
      const asked = { count: 24, seed: seed + 1, verifier, alsoOpenssl: true };
      expect((await compareJudges(asked)).differing).toEqual([]);
    },
  );

  it('should show a judge that asks noble alone', async () => {
    const alone: Verifier = {
      ...{ name: 'noble alone', signedBytes: (content) => content },
      takes(signature, content, key) {
        try {
          return ed25519.verify(signature, content, key, { zip215: false });
        } catch {
          return false;
        }
      },
    };
    const { differing } = await compareJudges({ count: 120, seed, verifier: alone });
    expect(differing.join('\n')).toMatch(/a small order in R, refused by node:crypto/);
  });

  it('should be judged nowhere else in the product', () => {
    const product = filesLike(/^(actors|gateway|machines|sensor|storage)\/.*\.tsx?$/);
    const own = product.filter((path) => !/\.(test|fixture)\.tsx?$/.test(path));
    const judging = own.filter((path) => /(^|[^\w.])verify\(|ed25519\.verify/.test(codeOf(path)));
    // Whether a password, or a code, is somebody's is asked under the same name. A request for a certificate is judged by
    // OpenSSL; a key is tried on itself, by both.
    expect(judging).toEqual([
      ...['actors/access/second-factor-service.ts', 'actors/access/second-factor.ts'],
      'actors/runtime/ed25519.ts',
      ...['storage/keys/argon2-hasher.ts', 'storage/keys/csr.ts', 'storage/keys/signing-key.ts'],
      'storage/ports/access/password-hasher.ts',
    ]);
  });
});
