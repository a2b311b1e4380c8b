// The shared counter on Debian's Redis: its promises, and how it behaves while the server is frozen or gone.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { processTime } from '../../gateway/process/time.ts';
import { SHARED_LIMITS_COMMAND_TIMEOUT_MS } from '../../machines/limits.ts';
import { createRedisCounter } from '../../storage/limits/redis-counter.ts';
import type { SharedCounter } from '../../storage/ports/access/shared-counter.ts';
import { type RedisServer, startRedis, whyNoRedis } from '../peers/redis-server.ts';
import { slackOf } from '../yardstick.ts';
import { sharedCounterContract } from './shared-counter.contract.ts';

const BACK_WITHIN_MS = 10_000;
const BUSY_MS = 150;
const reasonNot = whyNoRedis();
if (reasonNot !== null) console.info(`Redis is skipped: ${reasonNot}`);

describe.skipIf(reasonNot !== null)('on Redis', () => {
  let redis: RedisServer;
  let counters: readonly SharedCounter[] = [];
  const nth = (index: number): SharedCounter => {
    const counter = counters[index];
    if (counter === undefined) throw new Error('not started');
    return counter;
  };

  beforeAll(async () => {
    redis = await startRedis();
    const make = () =>
      createRedisCounter({ url: redis.url, timers: processTime, logger: silentLogger });
    counters = [make(), make()];
    await allAnswer();
  });
  afterAll(async () => {
    for (const counter of counters) await counter.close();
    await redis.stop();
  });

  async function allAnswer(): Promise<void> {
    for (const counter of counters) {
      const endMs = performance.now() + BACK_WITHIN_MS;
      while (!(await isAnswering(counter))) {
        if (performance.now() > endMs) throw new Error('Redis did not come back');
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  sharedCounterContract({
    port: () => nth(0),
    other: () => nth(1),
    async setAway(away) {
      if (away) return redis.kill();
      await redis.restart();
      return allAnswer();
    },
  });

  it('should be found by the first look, while the connection is being made', async () => {
    const counter = createRedisCounter({
      ...{ url: redis.url, timers: processTime, logger: silentLogger },
    });
    await counter.look();
    await counter.close();
  });

  it.each(['freeze', 'kill'] as const)(
    'should give every count up in time after a %s, and count again afterwards',
    async (how) => {
      const budget = { name: `after-${how}`, limit: 1_000, windowMs: 60_000 };
      const slackMs = await slackOf(() => nth(0).consume(budget, 'key'));
      if (how === 'freeze') redis.freeze();
      else await redis.kill();
      const took = await Promise.all(
        Array.from({ length: 50 }, async () => {
          const startedMs = performance.now();
          await expect(nth(0).consume(budget, 'key')).rejects.toThrow();
          return performance.now() - startedMs;
        }),
      );
      expect(Math.max(...took)).toBeLessThan(SHARED_LIMITS_COMMAND_TIMEOUT_MS + BUSY_MS + slackMs);
      await expect(nth(0).look()).rejects.toThrow();
      if (how === 'freeze') redis.thaw();
      else await redis.restart();
      await allAnswer();
      expect((await nth(0).consume(budget, 'key')).allowed).toBe(true);
    },
  );
});

async function isAnswering(counter: SharedCounter): Promise<boolean> {
  try {
    await counter.look();
    return true;
  } catch {
    return false;
  }
}
