// Request budgets per key and minute. The address budget belongs to whoever has no credential yet; a success gives its
// request back, so guesses are counted and honest callers are not. decision: D15; invariant: I10
import { RATE_LIMIT_KEYS_MAX, RATE_LIMIT_WINDOW_MS } from '../../machines/limits.ts';
import type { BudgetState } from '../../storage/ports/access/shared-counter.ts';

export type RateBudget = {
  /** Takes one request from the key's budget. Never rejects. */
  consume(key: string): Promise<BudgetState>;
  /** Gives one request back. */
  reward(key: string): Promise<void>;
};

const OVERFLOW_KEY = 'overflow';

/**
 * A budget in this process: so many requests of a key in a window that begins with the first of them. When too many keys
 * appear at once, the newcomers share one budget.
 */
export function createMemoryBudget(
  limit: number,
  options: {
    readonly keysMax?: number;
    readonly windowMs?: number;
    readonly monotonicNow?: () => number;
  } = {},
): RateBudget {
  const { keysMax = RATE_LIMIT_KEYS_MAX, windowMs = RATE_LIMIT_WINDOW_MS } = options;
  const { monotonicNow = () => performance.now() } = options;
  // In the order in which their windows began, so that what is over stands first.
  const windows = new Map<string, { used: number; readonly endsMs: number }>();

  function windowOf(asked: string, nowMs: number) {
    for (const [key, { endsMs }] of windows) {
      if (endsMs > nowMs) break;
      windows.delete(key);
    }
    const isFull = windows.size >= keysMax && !windows.has(asked);
    const key = isFull ? OVERFLOW_KEY : asked;
    const known = windows.get(key);
    if (known !== undefined) return known;
    const begun = { used: 0, endsMs: nowMs + windowMs };
    windows.set(key, begun);
    return begun;
  }

  return {
    async consume(key) {
      const nowMs = monotonicNow();
      const window = windowOf(key, nowMs);
      window.used += 1;
      return {
        allowed: window.used <= limit,
        limit,
        remaining: Math.max(0, limit - window.used),
        // A sum of fractions may come out a little longer than the window.
        resetMs: Math.min(windowMs, window.endsMs - nowMs),
      };
    },
    async reward(key) {
      const window = windowOf(key, monotonicNow());
      window.used = Math.max(0, window.used - 1);
    },
  };
}

/** The key of an address: an IPv6 site counts as one, because a site owns a whole /64; a mapped IPv4 address is itself. */
export function addressKey(address: string): string {
  if (!address.includes(':')) return address;
  const groups = groupsOf(address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, dottedAsGroups));
  const [high = 0, low = 0] = groups.slice(6);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
  return groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':');
}

function groupsOf(address: string): readonly number[] {
  const [head = '', tail = ''] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const gap = Math.max(0, 8 - left.length - right.length);
  const zeros = Array.from({ length: gap }, () => '0');
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16) || 0);
}

function dottedAsGroups(_text: string, a: string, b: string, c: string, d: string): string {
  const group = (high: string, low: string) => (Number(high) * 256 + Number(low)).toString(16);
  return `${group(a, b)}:${group(c, d)}`;
}

/** The headers that tell a caller its budget (IETF draft form). */
export function budgetHeaders(name: string, state: BudgetState): Record<string, string> {
  const seconds = Math.ceil(state.resetMs / 1_000);
  const window = Math.ceil(RATE_LIMIT_WINDOW_MS / 1_000);
  return {
    'ratelimit-policy': `"${name}";q=${state.limit};w=${window}`,
    ratelimit: `"${name}";r=${state.remaining};t=${seconds}`,
  };
}
