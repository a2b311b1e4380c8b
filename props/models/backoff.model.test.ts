// Waits beside a doubling loop: a peer that fails and recovers at random always waits between the half and the whole of
// the doubled least wait, within both bounds, and what a server asks for is obeyed up to its bound. decision: D9
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs, obeyRetryAfter } from '../../machines/sensor/backoff.rules.ts';
import { spoolRetryMs } from '../../machines/sensor/spool.machine.ts';
import { itAgrees, type Move, move } from './driver.ts';

const MIN_MS = 1_000;
const MAX_MS = 30_000;
const ASKED_MAX_MS = 600_000;
type Model = { upperMs: number };
type Real = {
  failures: number;
  seed: number;
  waitMs: number;
  spoolMs: number;
  askedMs: number | null;
};

function wait(real: Real): void {
  const { failures, seed, askedMs } = real;
  const own = backoffMs({ failures, seed, minMs: MIN_MS, maxMs: MAX_MS });
  real.waitMs = obeyRetryAfter(own, askedMs, ASKED_MAX_MS);
  real.spoolMs = spoolRetryMs(failures, MIN_MS, MAX_MS);
}
const fail = fc
  .option(fc.oneof(fc.integer({ min: -9, max: 2 * ASKED_MAX_MS }), fc.constantFrom(Number.NaN)))
  .map(
    (askedMs): Move<Model, Real> => ({
      name: `fail(${askedMs})`,
      run(model, real) {
        real.failures += 1;
        real.askedMs = askedMs;
        wait(real);
        model.upperMs = Math.min(MAX_MS, 2 * model.upperMs);
      },
    }),
  );
const recover = move<Model, Real>('recover', (model, real) => {
  real.failures = 0;
  model.upperMs = MIN_MS;
});

describe('backoff', () => {
  itAgrees<Model, Real, number>({
    input: fc.integer(),
    begin: (seed) => ({
      model: { upperMs: MIN_MS },
      real: { failures: 0, seed, waitMs: MIN_MS, spoolMs: MIN_MS, askedMs: null },
    }),
    moves: [fail, fail, fail, fail, fail, recover],
    agree({ upperMs }, { failures, waitMs, spoolMs, askedMs }) {
      if (failures === 0) return;
      const asked = askedMs === null || Number.isNaN(askedMs) ? 0 : Math.min(ASKED_MAX_MS, askedMs);
      expect(waitMs).toBeGreaterThanOrEqual(Math.max(asked, MIN_MS, upperMs / 2));
      expect(waitMs).toBeLessThanOrEqual(Math.max(asked, upperMs));
      // The spool's own wait has no jitter: one disk, one waiter.
      expect(spoolMs).toBe(
        failures === 1 ? MIN_MS : Math.min(MAX_MS, MIN_MS * 2 ** (failures - 1)),
      );
    },
  });

  it('never gives a whole fleet the same wait', () => {
    const waits = Array.from({ length: 100 }, (_, seed) =>
      backoffMs({ failures: 3, seed, minMs: MIN_MS, maxMs: MAX_MS }),
    );
    expect(new Set(waits.map(Math.round)).size).toBeGreaterThan(80);
  });
});
