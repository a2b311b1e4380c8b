// Request budgets per key and minute. The address budget belongs to whoever has no credential yet; a success gives its
// request back, so guesses are counted and honest callers are not. decision: D15; invariant: I10
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { RATE_LIMIT_KEYS_MAX, RATE_LIMIT_WINDOW_MS } from '../../machines/limits.ts';

export type BudgetState = {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
};

export type RateBudget = {
  /** Takes one request from the key's budget. Never rejects. */
  consume(key: string): Promise<BudgetState>;
  /** Gives one request back. */
  reward(key: string): Promise<void>;
};

const OVERFLOW_KEY = 'overflow';

/** A budget in this process. When too many keys appear in one window, the newcomers share one budget. */
export function createMemoryBudget(
  limit: number,
  options: { readonly keysMax?: number; readonly windowMs?: number } = {},
): RateBudget {
  const { keysMax = RATE_LIMIT_KEYS_MAX, windowMs = RATE_LIMIT_WINDOW_MS } = options;
  const limiter = new RateLimiterMemory({ points: limit, duration: windowMs / 1_000 });
  let seen = new Set<string>();
  let windowEndsMs = 0;

  function bounded(key: string): string {
    const nowMs = performance.now();
    if (nowMs >= windowEndsMs) {
      seen = new Set();
      windowEndsMs = nowMs + windowMs;
    }
    if (seen.size < keysMax) seen.add(key);
    return seen.has(key) ? key : OVERFLOW_KEY;
  }

  return {
    async consume(key) {
      try {
        return stateOf(await limiter.consume(bounded(key)), limit, true);
      } catch (rejected) {
        if (rejected instanceof RateLimiterRes) return stateOf(rejected, limit, false);
        throw rejected;
      }
    },
    async reward(key) {
      await limiter.reward(bounded(key));
    },
  };
}

function stateOf(res: RateLimiterRes, limit: number, allowed: boolean): BudgetState {
  return {
    allowed,
    limit,
    remaining: Math.max(0, res.remainingPoints),
    resetMs: Math.max(0, res.msBeforeNext),
  };
}

/** The key of an address: an IPv6 site counts as one, because a site owns a whole /64. */
export function addressKey(address: string): string {
  const plain = address.replace(/^(0:0:0:0:0:ffff:|::ffff:)(?=\d+\.)/i, '');
  if (!plain.includes(':')) return plain;
  const [head = '', tail = ''] = plain.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const gap = plain.includes('::') ? Math.max(0, 8 - left.length - right.length) : 0;
  const groups = [...left, ...Array.from({ length: gap }, () => '0'), ...right];
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, '').toLowerCase())
    .join(':');
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
