// What a password must be: long enough, known to few, and not made of the account itself. No rules about kinds of
// characters, nothing is cut off, and it is compared as it was typed. decision: D37
import {
  PASSWORD_LANES_MAX,
  PASSWORD_MAX_CHARS,
  PASSWORD_MEMORY_KIB,
  PASSWORD_MEMORY_MAX_KIB,
  PASSWORD_MIN_CHARS,
  PASSWORD_PASSES,
  PASSWORD_PASSES_MAX,
  PASSWORD_SALT_BYTES_MIN,
  PASSWORD_TAG_BYTES_MIN,
} from '../../limits.ts';

export type PasswordMistake = 'too_short' | 'too_long' | 'too_common' | 'contains_account';

const PRODUCT_WORDS: readonly string[] = ['service-console', 'serviceconsole', 'fleet runtime'];
const ACCOUNT_PART_MIN_CHARS = 4;

/** What each mistake tells the person. */
export const PASSWORD_MISTAKES: Readonly<Record<PasswordMistake, string>> = {
  too_short: `must have at least ${PASSWORD_MIN_CHARS} characters`,
  too_long: `must have at most ${PASSWORD_MAX_CHARS} characters`,
  too_common: 'is one of the passwords that are tried first',
  contains_account: 'must not contain the e-mail address or the name of the product',
};

/** Why a password cannot be taken; null when it can. `isCommon` is asked with its lower case. */
export function mistakeOfPassword(
  password: string,
  facts: { readonly email: string; readonly isCommon: (lowerCase: string) => boolean },
): PasswordMistake | null {
  const chars = [...password].length;
  if (chars < PASSWORD_MIN_CHARS) return 'too_short';
  if (chars > PASSWORD_MAX_CHARS) return 'too_long';
  const lower = password.toLowerCase();
  if (facts.isCommon(lower)) return 'too_common';
  const words = [...accountWords(facts.email), ...PRODUCT_WORDS];
  return words.some((word) => lower.includes(word)) ? 'contains_account' : null;
}

const ARGON2ID =
  /^\$argon2id\$v=19\$m=(\d{1,8}),t=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{1,128})\$([A-Za-z0-9+/]{1,128})$/;

/**
 * Why a hash that somebody brings cannot be taken; null when it can. It must cost a guesser what a hash of today costs, and
 * a login no more than the machine has. decision: D69
 */
export function mistakeOfPasswordHash(hash: string): string | null {
  const [, memory, passes, lanes, salt = '', tag = ''] = ARGON2ID.exec(hash) ?? [];
  if (memory === undefined) return 'must be an argon2id hash';
  const [m, t, p] = [Number(memory), Number(passes), Number(lanes)];
  if (m < PASSWORD_MEMORY_KIB || t < PASSWORD_PASSES || p < 1) {
    return `is too cheap to guess; make it with m=${PASSWORD_MEMORY_KIB},t=${PASSWORD_PASSES},p=1 or more`;
  }
  if (m > PASSWORD_MEMORY_MAX_KIB || t > PASSWORD_PASSES_MAX || p > PASSWORD_LANES_MAX) {
    return `costs more than a login may; make it with at most m=${PASSWORD_MEMORY_MAX_KIB},t=${PASSWORD_PASSES_MAX},p=${PASSWORD_LANES_MAX}`;
  }
  const bytesOf = (base64: string) => Math.floor((base64.length * 3) / 4);
  const isShort = bytesOf(salt) < PASSWORD_SALT_BYTES_MIN || bytesOf(tag) < PASSWORD_TAG_BYTES_MIN;
  return isShort
    ? `needs a salt of ${PASSWORD_SALT_BYTES_MIN} bytes and a hash of ${PASSWORD_TAG_BYTES_MIN}`
    : null;
}

function accountWords(email: string): readonly string[] {
  const lower = email.toLowerCase();
  const [local = ''] = lower.split('@', 1);
  return [lower, local].filter((word) => word.length >= ACCOUNT_PART_MIN_CHARS);
}
