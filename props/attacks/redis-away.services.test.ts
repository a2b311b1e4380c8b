// Attack 20, the counter of request budgets: Debian's Redis falls silent or dies while two Consoles are under load. Each
// counts by itself within a second, no request waits for Redis, and they share again when it is back. decision: D41
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { processTime } from '../../gateway/process/time.ts';
import { RATE_LIMIT_ANALYST_PER_MINUTE } from '../../machines/limits.ts';
import { createRedisCounter } from '../../storage/limits/redis-counter.ts';
import { type RedisServer, startRedis, whyNoRedis } from '../peers/redis-server.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { openStores } from './stores.fixture.ts';

const ALONE_WITHIN_MS = 1_000;
const REQUEST_WITHIN_MS = 250;
const BACK_WITHIN_MS = 10_000;
const LOADING = 8;
const BEFORE_MS = 1_000;
const AFTER_MS = 2_000;
const reasonNot = whyNoRedis();
if (reasonNot !== null) console.info(`Redis is skipped: ${reasonNot}`);

/** A gap between two ticks of this process that no waiting explains: the machine gave its time to others. */
const TICK_MS = 5;
const STALL_FROM_MS = 40;

type Took = { readonly atMs: number; readonly ms: number; readonly status: number };

describe.skipIf(reasonNot !== null)('attack 20: the counter of budgets goes away', () => {
  let redis: RedisServer;
  let consoles: readonly [ConsoleUnderTest, ConsoleUnderTest];

  beforeEach(async () => {
    redis = await startRedis();
    const stores = await openStores();
    const start = () => {
      const options = { url: redis.url, timers: processTime, logger: silentLogger };
      return startConsole({ stores, counter: createRedisCounter(options) });
    };
    consoles = [await start(), await start()];
    await allShare(true, BACK_WITHIN_MS);
  });
  afterEach(async () => {
    for (const one of consoles) await one.stop();
    await redis.stop();
  });
  afterAll(removeSharedKeys);

  async function allShare(together: boolean, withinMs: number): Promise<number> {
    const startedMs = performance.now();
    while (consoles.some(({ limits }) => limits?.countsTogether() !== together)) {
      if (performance.now() - startedMs > withinMs) throw new Error('the choice was not made');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return performance.now() - startedMs;
  }

  /** What is left of a new person's budget after one request to each Console. */
  async function leftAt(): Promise<readonly number[]> {
    const headers = await consoles[0].newSession('viewer');
    const left: number[] = [];
    for (const one of consoles) {
      const answer = await one.ask(null, '/api/v2/sensors', null, { method: 'GET', headers });
      expect(answer.status).toBe(200);
      const [, number] = /r=(\d+)/.exec(String(answer.headers['ratelimit'])) ?? [];
      left.push(Number(number));
    }
    return left;
  }

  /** Watches for stalls of this process; gives how long it stood still between two instants. */
  function watchStalls() {
    const stalls: { readonly fromMs: number; readonly toMs: number }[] = [];
    let lastMs = performance.now();
    const timer = setInterval(() => {
      const nowMs = performance.now();
      if (nowMs - lastMs >= STALL_FROM_MS) stalls.push({ fromMs: lastMs + TICK_MS, toMs: nowMs });
      lastMs = nowMs;
    }, TICK_MS);
    return {
      between: ({ atMs, ms }: Took) =>
        stalls
          .map(({ fromMs, toMs }) => Math.min(toMs, atMs + ms) - Math.max(fromMs, atMs))
          .reduce((sum, one) => sum + Math.max(0, one), 0),
      stop: () => clearInterval(timer),
    };
  }

  /** Asks without a pause, on kept connections, until it is told to stop. */
  function load() {
    const took: Took[] = [];
    let isOver = false;
    const ask = async (index: number): Promise<void> => {
      const one = consoles[index % 2 === 0 ? 0 : 1];
      const [agent, headers] = [one.agent(null), await one.newSession('admin')];
      while (!isOver) {
        const atMs = performance.now();
        const path = '/api/v2/sensors?limit=1';
        const { status } = await one.ask(null, path, null, { method: 'GET', agent, headers });
        took.push({ atMs, ms: performance.now() - atMs, status });
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    const all = Promise.all(Array.from({ length: LOADING }, (_, index) => ask(index)));
    return async () => {
      isOver = true;
      await all;
      return took;
    };
  }

  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  it.each(['freeze', 'kill'] as const)(
    'should count alone after a %s, and nobody waits',
    async (how) => {
      const limit = RATE_LIMIT_ANALYST_PER_MINUTE;
      expect(await leftAt()).toEqual([limit - 1, limit - 2]);
      const stalls = watchStalls();
      const end = load();
      await pause(BEFORE_MS);
      const fellBefore = consoles.map(({ limits }) => limits?.falls());

      const fellAtMs = performance.now();
      if (how === 'freeze') redis.freeze();
      else await redis.kill();
      expect(await allShare(false, ALONE_WITHIN_MS)).toBeLessThan(ALONE_WITHIN_MS);
      expect(await leftAt()).toEqual([limit - 1, limit - 1]);
      await pause(AFTER_MS);
      const took = await end();
      stalls.stop();

      const after = took.filter(({ atMs }) => atMs >= fellAtMs - REQUEST_WITHIN_MS);
      expect(after.length).toBeGreaterThan(100);
      // A machine that is busy with something else makes everybody wait; Redis must not.
      const waits = after.map((one) => one.ms - stalls.between(one));
      expect(Math.max(...waits)).toBeLessThan(REQUEST_WITHIN_MS);
      const odd = took.filter(({ status }) => status !== 200 && status !== 429);
      expect(odd).toEqual([]);
      // Once: a silent Redis is not found again and again.
      expect(consoles.map(({ limits }) => limits?.falls())).toEqual(
        fellBefore.map((falls) => Number(falls) + 1),
      );
      for (const one of consoles) {
        const ready = await one.ask(null, '/readyz?verbose', null, { method: 'GET' });
        expect([ready.status, ready.body['status']]).toEqual([200, 'ready']);
        expect(ready.body['dependencies']).toContainEqual(
          expect.objectContaining({ name: 'redis', ok: false, required: false }),
        );
        expect(await one.metrics.registry.metrics()).toMatch(/^service_rate_limits_shared 0$/m);
      }

      if (how === 'freeze') redis.thaw();
      else await redis.restart();
      await allShare(true, BACK_WITHIN_MS);
      expect(await leftAt()).toEqual([limit - 1, limit - 2]);
    },
  );
});
