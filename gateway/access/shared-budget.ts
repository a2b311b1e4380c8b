// A request budget that replicas share while their counter answers, and that each counts by itself while it does not. A
// count that fails is made again here at once, so no request waits longer than one command of the counter. decision: D41
import type { RateLimits } from '../../actors/access/rate-limits.actor.ts';
import type { Budgeted, SharedCounter } from '../../storage/ports/access/shared-counter.ts';
import { createMemoryBudget, type RateBudget } from './rate-budget.ts';

export type SharedBudgetDeps = {
  readonly budget: Budgeted;
  readonly counter: Pick<SharedCounter, 'consume' | 'reward'>;
  readonly limits: Pick<RateLimits, 'countsTogether' | 'failed'>;
  readonly monotonicNow: () => number;
};

/** Makes the budget. A change between shared and own begins with what the other counter holds. */
export function createSharedBudget(deps: SharedBudgetDeps): RateBudget {
  const { budget, counter, limits, monotonicNow } = deps;
  const own = createMemoryBudget(budget.limit, { windowMs: budget.windowMs, monotonicNow });
  return {
    async consume(key) {
      if (!limits.countsTogether()) return own.consume(key);
      try {
        return await counter.consume(budget, key);
      } catch (error) {
        limits.failed(error);
        return own.consume(key);
      }
    },
    async reward(key) {
      if (!limits.countsTogether()) return own.reward(key);
      // Not waited for: the request it belongs to has been judged already.
      counter.reward(budget, key).catch((error: unknown) => limits.failed(error));
      return undefined;
    },
  };
}
