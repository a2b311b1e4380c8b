// How failed logins are slowed down. The first few cost nothing; each further one must wait longer after the last, up to
// a cap, so that no account is ever closed for good by somebody who does not know its password. A try is counted before
// it is judged and given back when it was right. decision: D37
import {
  LOGIN_ACCOUNT_TRIES_FREE,
  LOGIN_ADDRESS_TRIES_FREE,
  LOGIN_DELAY_MAX_MS,
  LOGIN_DELAY_MIN_MS,
} from '../../limits.ts';
import { emailKeyOf } from './account.rules.ts';

const ACCOUNT = 'login:account:';
const KNOWN = 'login:known:';
const ADDRESS = 'login:address:';

/** Under what tries on an account are counted, whether it exists or not. */
export function accountTryKey(email: string): string {
  return ACCOUNT + emailKeyOf(email);
}

/**
 * Under what tries on an account are counted from a site that logged into it lately: by itself, so that failures of
 * strangers do not hold it, and its own hold nobody else. decision: D69
 */
export function knownSiteTryKey(email: string, site: string): string {
  return `${KNOWN}${site} ${emailKeyOf(email)}`;
}

/** Under what tries from a site are counted. */
export function addressTryKey(site: string): string {
  return ADDRESS + site;
}

/** How long after the last failure the next try is judged. */
export function delayAfter(failures: number, triesFree: number): number {
  if (failures < triesFree) return 0;
  // The exponent is bounded before it is used: 2 ** 2000 is no number any more.
  const doublings = Math.min(failures - triesFree, 30);
  return Math.min(LOGIN_DELAY_MAX_MS, LOGIN_DELAY_MIN_MS * 2 ** doublings);
}

/** How long the next try under a key must wait; 0 when it may be judged now. */
export function waitOfLogin(
  counted: { readonly key: string; readonly failures: number; readonly lastAtMs: number },
  nowMs: number,
): number {
  const isAddress = counted.key.startsWith(ADDRESS);
  const free = isAddress ? LOGIN_ADDRESS_TRIES_FREE : LOGIN_ACCOUNT_TRIES_FREE;
  const delayMs = delayAfter(counted.failures, free);
  // A clock that was set back makes nobody wait longer than the delay itself.
  return Math.min(delayMs, Math.max(0, counted.lastAtMs + delayMs - nowMs));
}
