// Passwords as they are judged: the list of the common ones as it really is, and one price for everybody.
import { describe, expect, it } from 'vitest';
import { PASSWORD_MIN_CHARS } from '../../machines/limits.ts';
import type { PasswordHasher } from '../../storage/ports/access/password-hasher.ts';
import { commonPasswords } from './common-passwords.ts';
import { createPasswords } from './passwords.ts';

const EMAIL = 'ann@example.org';
/** ASVS 5 asks for the 3,000 that are tried first and long enough to be taken otherwise. */
const COMMON_MIN = 3_000;

function hasherOf(answer: (text: string) => string | 'busy' = (text) => text) {
  const verified: string[] = [];
  const hasher: PasswordHasher = {
    hash: async (text) => answer(text),
    async verify(stored, text) {
      verified.push(stored);
      return stored === text;
    },
    isOutdated: (stored) => stored.startsWith('old'),
  };
  return { hasher, verified };
}

describe('passwords', () => {
  it('should refuse every common one that is long enough, in any case of its letters', async () => {
    const { accept } = createPasswords(hasherOf());
    const common = [...(await commonPasswords())].filter(
      (one) => [...one].length >= PASSWORD_MIN_CHARS,
    );
    expect(common.length).toBeGreaterThan(COMMON_MIN);
    for (const one of ['password1', 'qwertyuiop', 'PassWord1', ...common.slice(0, 200)]) {
      expect(await accept(one, EMAIL)).toMatchObject({ ok: false, code: 'password_refused' });
    }
  });

  it('should take a long one of a single kind of characters, and tell where a mistake is', async () => {
    const { accept } = createPasswords(hasherOf());
    expect((await accept('correct horse battery staple', EMAIL)).ok).toBe(true);
    expect((await accept('\u00e9'.repeat(PASSWORD_MIN_CHARS), EMAIL)).ok).toBe(true);
    expect(await accept('short', EMAIL, '/new_password')).toMatchObject({
      errors: [{ pointer: '/new_password' }],
    });
    expect(await accept(`my ${EMAIL} mail`, EMAIL)).toMatchObject({ code: 'password_refused' });
  });

  it('should verify once whether the account exists or not, and never be right for nobody', async () => {
    const { hasher, verified } = hasherOf();
    const { isRight } = createPasswords({ hasher });
    expect(await isRight('secret', 'secret')).toBe(true);
    expect(await isRight(null, 'secret')).toBe(false);
    expect(verified.length).toBe(2);
    // Not even with the password that nobody's hash was made of.
    expect(await isRight(null, String(verified[1]))).toBe(false);
  });

  it('should say that it is busy in place of wrong, and ask again the next time', async () => {
    const answers = ['busy', 'made'];
    const { isRight } = createPasswords(hasherOf(() => answers.shift() ?? 'made'));
    expect(await isRight('secret', 'secret')).toMatchObject({ ok: false, code: 'overloaded' });
    expect(await isRight('secret', 'secret')).toBe(true);
  });
});
