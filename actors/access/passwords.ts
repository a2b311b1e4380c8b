// Passwords: judged by the rules, hashed, and compared at one price whether the account exists or not. decision: D37;
// invariant: I11
import {
  mistakeOfPassword,
  PASSWORD_MISTAKES,
} from '../../machines/console/access/password.rules.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { PASSWORD_BUSY_RETRY_MS } from '../../machines/limits.ts';
import type { PasswordHasher } from '../../storage/ports/access/password-hasher.ts';
import { type Chance, systemChance } from '../trust/chance.ts';
import { commonPasswords as knownPasswords } from './common-passwords.ts';

const UNKNOWN_BYTES = 32;

export type Passwords = {
  /** A hash of a password that fits the rules. */
  accept(
    password: string,
    email: string,
    pointer?: string,
  ): Promise<{ readonly ok: true; readonly hash: string } | Refusal>;
  /** Whether it is the password of the hash; null stands for nobody, who has none and costs the same. */
  isRight(hash: string | null, password: string): Promise<boolean | Refusal>;
  /** A better hash of a password that was right; null when the one there is good enough. */
  better(hash: string, password: string): Promise<string | null>;
};

/** Makes the judge of passwords. */
export function createPasswords(deps: {
  readonly hasher: PasswordHasher;
  readonly chance?: Chance;
  /** Passwords that are tried first, lower case. */
  readonly commonPasswords?: () => Promise<ReadonlySet<string>>;
}): Passwords {
  const { hasher, chance = systemChance, commonPasswords = knownPasswords } = deps;
  let nobody: Promise<string | 'busy'> | null = null;

  /** A hash that nobody knows the password of, with the cost of today. */
  async function hashOfNobody(): Promise<string | 'busy'> {
    nobody ??= hasher.hash(chance.randomBytes(UNKNOWN_BYTES).toString('base64url'));
    const made = await nobody;
    if (made === 'busy') nobody = null;
    return made;
  }

  return {
    async accept(password, email, pointer = '/password') {
      const common = await commonPasswords();
      const mistake = mistakeOfPassword(password, { email, isCommon: (text) => common.has(text) });
      if (mistake !== null) {
        const detail = PASSWORD_MISTAKES[mistake];
        const errors = [{ pointer, detail }];
        return refuse('password_refused', `The password ${detail}.`, { errors });
      }
      const hash = await hasher.hash(password);
      return hash === 'busy' ? busy() : { ok: true, hash };
    },
    async isRight(hash, password) {
      // Made before it is needed, so that the first unknown account costs no more than the second.
      const unknown = await hashOfNobody();
      if (unknown === 'busy') return busy();
      const isRight = await hasher.verify(hash ?? unknown, password);
      if (isRight === 'busy') return busy();
      return hash !== null && isRight;
    },
    async better(hash, password) {
      if (!hasher.isOutdated(hash)) return null;
      const made = await hasher.hash(password);
      return made === 'busy' ? null : made;
    },
  };
}

function busy(): Refusal {
  return refuse('overloaded', 'Too many passwords are being checked.', {
    retryAfterMs: PASSWORD_BUSY_RETRY_MS,
  });
}
