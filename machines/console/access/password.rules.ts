// What a password must be: long enough, known to few, and not made of the account itself. No rules about kinds of
// characters, nothing is cut off, and it is compared as it was typed. decision: D37
import { PASSWORD_MAX_CHARS, PASSWORD_MIN_CHARS } from '../../limits.ts';

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

function accountWords(email: string): readonly string[] {
  const lower = email.toLowerCase();
  const [local = ''] = lower.split('@', 1);
  return [lower, local].filter((word) => word.length >= ACCOUNT_PART_MIN_CHARS);
}
