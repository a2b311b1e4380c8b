// The request budgets of one Console: shared with its replicas when a counter is configured, its own otherwise. Both
// planes take from the one address budget. Opened with the analytics store, before any router. decision: D41; invariant: I10

import { Counter, Gauge, type Registry } from '@prometheus-io/client';
import { type RateLimits, startRateLimits } from '../../../actors/access/rate-limits.actor.ts';
import type { Logger } from '../../../actors/runtime/logger.ts';
import type { WheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { rateLimitsMachine } from '../../../machines/console/access/rate-limits.machine.ts';
import {
  RATE_LIMIT_ANALYST_PER_MINUTE,
  RATE_LIMIT_OPERATOR_PER_MINUTE,
  RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE,
  RATE_LIMIT_WINDOW_MS,
} from '../../../machines/limits.ts';
import type { SharedCounter } from '../../../storage/ports/access/shared-counter.ts';
import type { Time } from '../../../storage/ports/plumbing/clock.ts';
import type { Budgets } from '../../access/admitter.ts';
import { createMemoryBudget, type RateBudget } from '../../access/rate-budget.ts';
import { createSharedBudget } from '../../access/shared-budget.ts';
import type { Capability, Contribution } from '../../capability.ts';
import type { ConsolePorts } from '../../console-ports.ts';
import { createStoreView } from '../../operator-plane/system/store-view.ts';

const SPECIFIED = {
  large: RATE_LIMIT_OPERATOR_PER_MINUTE,
  small: RATE_LIMIT_ANALYST_PER_MINUTE,
  address: RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE,
} as const;

export type RateLimiting = {
  readonly budgets: Budgets;
  /** The choice between shared and own; null when nothing is shared. */
  readonly limits: RateLimits | null;
  close(): Promise<void>;
};

export const rateLimits: Capability<RateLimiting> = {
  name: 'rate-limits',
  opensAt: 'analytics_and_sink',
  open({ openCounter, clock, time, logger, requestBudgets = {} }) {
    const counter = openCounter();
    const rates = openRateLimits({ counter, clock, time, logger, requestBudgets });
    return {
      service: rates,
      machines: [rateLimitsMachine],
      ...sharedLimits(rates.limits, time.now),
      close: rates.close,
    };
  },
};

/** Makes the budgets; with a counter they are shared as soon as it answers. */
function openRateLimits(input: {
  /** Null: this Console counts by itself. */
  readonly counter: SharedCounter | null;
  readonly clock: WheelClock;
  readonly logger: Logger;
  readonly time: Pick<Time, 'monotonicNow'>;
  /** Requests in a minute, where they are not the specification's. */
  readonly requestBudgets?: ConsolePorts['requestBudgets'];
}): RateLimiting {
  const { counter, clock, logger, time } = input;
  const { large, small, address } = { ...SPECIFIED, ...input.requestBudgets };
  const { monotonicNow } = time;
  const limits = counter === null ? null : startRateLimits({ counter, clock, logger });
  const budgetOf = (name: string, limit: number): RateBudget => {
    if (counter === null || limits === null) return createMemoryBudget(limit, { monotonicNow });
    const budget = { name, limit, windowMs: RATE_LIMIT_WINDOW_MS };
    return createSharedBudget({ budget, counter, limits, monotonicNow });
  };
  return {
    budgets: {
      large: budgetOf('large', large),
      small: budgetOf('small', small),
      address: budgetOf('address', address),
    },
    limits,
    async close() {
      limits?.stop();
      await counter?.close();
    },
  };
}

// Where budgets are shared, operators see whether they are now; the Console serves either way. decision: D41
function sharedLimits(limits: RateLimits | null, now: () => number): Contribution {
  if (limits === null) return {};
  const view = createStoreView(now, 'rate-limits');
  view.add('redis', limits);
  const ping = async () => limits.countsTogether();
  return {
    directories: [view],
    probes: [{ name: 'redis', isOptional: true, ping }],
    measure: (registry) => measureRateLimits(registry, limits),
  };
}

/** Adds whether request budgets are shared with other Consoles, and how often that ended. decision: D41 */
function measureRateLimits(
  registry: Registry,
  limits: { countsTogether(): boolean; falls(): number },
): void {
  new Gauge({
    name: 'service_rate_limits_shared',
    help: '1 while request budgets are counted together with the other Consoles, 0 while alone.',
    registers: [registry],
    collect() {
      this.set(limits.countsTogether() ? 1 : 0);
    },
  });
  new Counter({
    name: 'service_rate_limits_falls_total',
    help: 'How often the shared counter was lost.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(limits.falls());
    },
  });
}
