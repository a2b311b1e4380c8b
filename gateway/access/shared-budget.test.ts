// Budgets of two Consoles over one counter by example: one budget while it answers, one each while it does not.
import { afterEach, describe, expect, it } from 'vitest';
import { startRateLimits } from '../../actors/access/rate-limits.actor.ts';
import type { Logger } from '../../actors/runtime/logger.ts';
import { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import { createMemoryCounter } from '../../storage/memory/access/shared-counter.ts';
import { createSharedBudget } from './shared-budget.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function setUp(limit: number) {
  const { counter, setAway } = createMemoryCounter(() => performance.now());
  const clock = createWheelClock({ tickMs: 5 });
  ends.push(() => clock.stop());
  const lines: string[] = [];
  const say = (_fields: unknown, text?: string) =>
    void lines.push(text ?? (typeof _fields === 'string' ? _fields : ''));
  const logger: Logger = { debug: say, info: say, warn: say, error: say, child: () => logger };
  const consoleOf = () => {
    const limits = startRateLimits({ counter, clock, logger });
    ends.push(() => limits.stop());
    const budget = { name: 'large', limit, windowMs: 60_000 };
    return {
      limits,
      budget: createSharedBudget({
        budget,
        counter,
        limits,
        monotonicNow: () => performance.now(),
      }),
    };
  };
  const consoles = [consoleOf(), consoleOf()] as const;
  const allCount = (together: boolean) =>
    Promise.all(
      consoles.map(({ limits }) => {
        return new Promise<void>((resolve) => {
          const look = () => limits.countsTogether() === together && resolve();
          limits.actor.subscribe(look);
          look();
        });
      }),
    );
  await allCount(true);
  const allowed = async (times: number) => {
    let admitted = 0;
    for (let i = 0; i < times; i += 1) {
      for (const { budget } of consoles) admitted += (await budget.consume('k')).allowed ? 1 : 0;
    }
    return admitted;
  };
  return { consoles, lines, setAway, allCount, allowed };
}

describe('a shared budget', () => {
  it('should be one for all, one each while the counter is away, and one again', async () => {
    const { setAway, allowed, allCount, consoles, lines } = await setUp(10);
    expect(await allowed(10)).toBe(10);

    setAway(true);
    expect(await allowed(12)).toBe(20);
    expect(consoles.map(({ limits }) => limits.falls())).toEqual([1, 1]);
    setAway(false);
    await allCount(true);

    expect(await allowed(1)).toBe(0);
    const said = (text: string) => lines.filter((line) => line.includes(text)).length;
    expect([said('alone'), said('shared with')]).toEqual([2, 4]);
  });

  it('should give a request back wherever it was counted', async () => {
    const { consoles, setAway } = await setUp(1);
    const [{ budget }] = consoles;
    for (const away of [false, true]) {
      setAway(away);
      for (let i = 0; i < 3; i += 1) {
        expect((await budget.consume('r')).allowed).toBe(true);
        await budget.reward('r');
      }
    }
  });
});
