// The request budgets of one Console: shared with its replicas when a counter is configured, its own otherwise. Both
// planes take from the one address budget. decision: D41; invariant: I10
import { type RateLimits, startRateLimits } from '../../actors/access/rate-limits.actor.ts';
import type { Logger } from '../../actors/runtime/logger.ts';
import type { WheelClock } from '../../actors/runtime/wheel-clock.ts';
import {
  RATE_LIMIT_ANALYST_PER_MINUTE,
  RATE_LIMIT_OPERATOR_PER_MINUTE,
  RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE,
  RATE_LIMIT_WINDOW_MS,
} from '../../machines/limits.ts';
import type { SharedCounter } from '../../storage/ports/access/shared-counter.ts';
import type { Budgets } from '../access/admitter.ts';
import { createMemoryBudget, type RateBudget } from '../access/rate-budget.ts';
import { createSharedBudget } from '../access/shared-budget.ts';

export type RateLimiting = {
  readonly budgets: Budgets;
  /** The choice between shared and own; null when nothing is shared. */
  readonly limits: RateLimits | null;
  close(): Promise<void>;
};

/** Makes the budgets; with a counter they are shared as soon as it answers. */
export function assembleRateLimits(input: {
  /** Null: this Console counts by itself. */
  readonly counter: SharedCounter | null;
  readonly clock: WheelClock;
  readonly logger: Logger;
  /** Requests of an address in a minute, where it is not the specification's. */
  readonly perAddress?: number;
}): RateLimiting {
  const { counter, clock, logger, perAddress = RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE } = input;
  const limits = counter === null ? null : startRateLimits({ counter, clock, logger });
  const budgetOf = (name: string, limit: number): RateBudget => {
    if (counter === null || limits === null) return createMemoryBudget(limit);
    const budget = { name, limit, windowMs: RATE_LIMIT_WINDOW_MS };
    return createSharedBudget({ budget, counter, limits });
  };
  return {
    budgets: {
      large: budgetOf('large', RATE_LIMIT_OPERATOR_PER_MINUTE),
      small: budgetOf('small', RATE_LIMIT_ANALYST_PER_MINUTE),
      address: budgetOf('address', perAddress),
    },
    limits,
    async close() {
      limits?.stop();
      await counter?.close();
    },
  };
}
