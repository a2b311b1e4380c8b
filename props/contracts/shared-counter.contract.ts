// The promises of the counter that Consoles share. decision: D41; invariant: I10
import { describe, expect, it } from 'vitest';
import {
  type Budgeted,
  type SharedCounter,
  SharedCounterUnavailable,
} from '../../storage/ports/access/shared-counter.ts';
import type { Harness } from './away.ts';
import { hex } from './samples.ts';

/** `other` counts in the same place over a connection of its own. */
export function sharedCounterContract(
  harness: Harness<SharedCounter> & { readonly other: () => SharedCounter },
): void {
  const { port, other } = harness;
  const budgetOf = (limit: number, windowMs = 60_000): Budgeted => ({
    ...{ name: hex(8), limit, windowMs },
  });

  describe('the shared counter', () => {
    it('should let exactly the limit in, however many Consoles count at once', async () => {
      const budget = budgetOf(50);
      const asked = Array.from({ length: 100 }, (_, i) =>
        (i % 2 === 0 ? port() : other()).consume(budget, 'key'),
      );
      const states = await Promise.all(asked);
      expect(states.filter(({ allowed }) => allowed)).toHaveLength(50);
      const remaining = states.filter(({ allowed }) => allowed).map((one) => one.remaining);
      expect(remaining.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i));
      expect(states.filter(({ allowed }) => !allowed).every((one) => one.remaining === 0)).toBe(
        true,
      );
    });

    it('should say the limit and when the window ends', async () => {
      const { limit, resetMs } = await port().consume(budgetOf(5), 'key');
      expect(limit).toBe(5);
      expect(resetMs).toBeGreaterThan(50_000);
      expect(resetMs).toBeLessThanOrEqual(60_000);
    });

    it('should keep keys and budgets apart', async () => {
      const [one, two] = [budgetOf(1), budgetOf(1)];
      const allowed = async (budget: Budgeted, key: string) =>
        (await port().consume(budget, key)).allowed;
      expect(await allowed(one, 'a')).toBe(true);
      expect(await allowed(one, 'a')).toBe(false);
      expect(await allowed(one, 'b')).toBe(true);
      expect(await allowed(two, 'a')).toBe(true);
      expect(await allowed(one, 'user:018f\r\nFLUSHALL *{}:')).toBe(true);
    });

    it('should take a request back, for every Console', async () => {
      const budget = budgetOf(1);
      for (let i = 0; i < 4; i += 1) {
        expect((await other().consume(budget, 'key')).allowed).toBe(true);
        await port().reward(budget, 'key');
      }
    });

    it('should begin a window anew when it is over', async () => {
      const budget = budgetOf(1, 1_000);
      expect((await port().consume(budget, 'key')).allowed).toBe(true);
      const { resetMs } = await port().consume(budget, 'key');
      await new Promise((resolve) => setTimeout(resolve, resetMs + 20));
      expect((await port().consume(budget, 'key')).allowed).toBe(true);
    });

    it('should say when it is away, and answer again by itself', async () => {
      const budget = budgetOf(5);
      const calls = [
        () => port().consume(budget, 'key'),
        () => port().reward(budget, 'key'),
        () => port().look(),
      ];
      await harness.setAway(true);
      try {
        for (const call of calls) await expect(call()).rejects.toThrow(SharedCounterUnavailable);
      } finally {
        await harness.setAway(false);
      }
      for (const call of calls) await call();
    });
  });
}
