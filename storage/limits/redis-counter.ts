// The shared counter in Redis: one script per count, so that counting is atomic, and one deadline over everything, so
// that no request waits for a Redis that is silent. Nothing is queued while there is no connection: a count that waited
// would count later than the request it belongs to. decision: D41
import { Redis } from 'ioredis';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import {
  SHARED_LIMITS_COMMAND_TIMEOUT_MS,
  SHARED_LIMITS_LAST_READ_MS,
  SHARED_LIMITS_RETRY_MS,
} from '../../machines/limits.ts';
import {
  type Budgeted,
  type BudgetState,
  type SharedCounter,
  SharedCounterUnavailable,
} from '../ports/access/shared-counter.ts';
import type { Timers } from '../ports/plumbing/clock.ts';
import type { Logger } from '../ports/plumbing/logger.ts';

const KEY_PREFIX = 'service-limits';

export type RedisCounterOptions = {
  /** redis:// or rediss://, with user and password when it asks for them. */
  readonly url: string;
  readonly timers: Pick<Timers, 'setTimeout' | 'clearTimeout'>;
  readonly logger: Logger;
};

/** Makes a counter; it connects at once and again whenever the connection is lost. */
export function createRedisCounter({ url, timers, logger }: RedisCounterOptions): SharedCounter {
  const listeners: ((reason: string) => void)[] = [];
  const limiters = new Map<string, RateLimiterRedis>();
  let isClosing = false;
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    connectTimeout: SHARED_LIMITS_RETRY_MS,
    retryStrategy: () => SHARED_LIMITS_RETRY_MS,
  });
  // Without a listener an error of the connection would end the process; whoever counts hears of it by its own count.
  redis.on('error', (error: Error) => logger.debug({ error: error.message }, 'redis'));
  redis.on('close', () => {
    if (!isClosing) for (const listener of listeners) listener('the connection was lost');
  });

  function limiterOf({ name, limit, windowMs }: Budgeted): RateLimiterRedis {
    const known = limiters.get(name);
    if (known !== undefined) return known;
    const made = new RateLimiterRedis({
      storeClient: redis,
      keyPrefix: `${KEY_PREFIX}:${name}`,
      points: limit,
      duration: windowMs / 1_000,
      rejectIfRedisNotReady: true,
    });
    limiters.set(name, made);
    return made;
  }

  /** The first look comes while the connection is being made: that is no failure yet. */
  async function connected(): Promise<void> {
    if (redis.status !== 'connecting' && redis.status !== 'connect') return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const ends = ['ready', 'close'] as const;
    for (const end of ends) redis.once(end, resolve);
    await promise;
    for (const end of ends) redis.off(end, resolve);
  }

  async function inTime<T>(answer: Promise<T>): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    // A loop that was held up runs its timers before it reads its sockets: the answer may lie there, so it is read first.
    const giveUp = () => reject(new SharedCounterUnavailable('no answer in time'));
    let timer = timers.setTimeout(() => {
      timer = timers.setTimeout(giveUp, SHARED_LIMITS_LAST_READ_MS);
    }, SHARED_LIMITS_COMMAND_TIMEOUT_MS);
    try {
      return await Promise.race([answer, late]);
    } catch (error) {
      if (error instanceof RateLimiterRes || error instanceof SharedCounterUnavailable) throw error;
      throw new SharedCounterUnavailable(error instanceof Error ? error.message : String(error));
    } finally {
      timers.clearTimeout(timer);
    }
  }

  return {
    async consume(budget, key) {
      try {
        return stateOf(await inTime(limiterOf(budget).consume(key)), budget.limit, true);
      } catch (rejected) {
        if (rejected instanceof RateLimiterRes) return stateOf(rejected, budget.limit, false);
        throw rejected;
      }
    },
    async reward(budget, key) {
      await inTime(limiterOf(budget).reward(key));
    },
    async look() {
      try {
        await inTime(connected().then(() => redis.ping()));
      } catch (error) {
        // What a silent server still owes is given up with its connection; the next look finds a new one.
        if (redis.status === 'ready') redis.disconnect(true);
        throw error;
      }
    },
    onLost: (listener) => void listeners.push(listener),
    async close() {
      isClosing = true;
      redis.disconnect();
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
