// Budgets are shared only while the counter answers, and a Console that lost it never stops looking. decision: D41
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type RateLimitsEvent,
  rateLimitsMachine,
} from '../../machines/console/access/rate-limits.machine.ts';
import {
  SHARED_LIMITS_CHECK_INTERVAL_MS,
  SHARED_LIMITS_COMMAND_TIMEOUT_MS,
  SHARED_LIMITS_LOOK_TIMEOUT_MS,
} from '../../machines/limits.ts';
import { drive } from '../models/driver.ts';
import { describeMachineLaws } from './laws.ts';

const FAILED: RateLimitsEvent = { type: 'count.failed', reason: 'x' };
const FALL_NOTICED_WITHIN_MS = 1_000;
const REQUEST_WITHIN_MS = 250;

describeMachineLaws({
  name: 'rate-limits',
  machine: rateLimitsMachine,
  input: fc.constant(undefined),
  events: fc.oneof(
    fc.constant({ type: 'limits.stop' }),
    fc.constant({ type: 'count.failed', reason: 'x' }),
  ),
  outputs: { look: fc.constant(undefined) },
});

describe('rate limits: rules', () => {
  const isShared = (real: ReturnType<typeof drive<typeof rateLimitsMachine>>) =>
    real.snapshot().hasTag('counts-together');

  it('never counts together after a count that failed, before two good looks in a row', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 12 }), (looks) => {
        const real = drive(rateLimitsMachine);
        real.done('look');
        real.send(FAILED);
        let inARow = 0;
        for (const isGood of looks) {
          expect(isShared(real)).toBe(false);
          real.advance(real.nextTimerMs() ?? 0);
          if (isGood) real.done('look');
          else real.fail('look');
          inARow = isGood ? inARow + 1 : 0;
          if (inARow === 2) break;
        }
        expect(isShared(real)).toBe(inARow === 2);
      }),
    );
  });

  it('always notices within a second that the counter fell silent, though nobody asks for anything', () => {
    const real = drive(rateLimitsMachine);
    real.done('look');
    const atMs = real.nowMs();
    while (isShared(real)) real.advance(real.nextTimerMs() ?? 0);
    expect(real.nowMs() - atMs).toBeLessThanOrEqual(FALL_NOTICED_WITHIN_MS);
    expect(SHARED_LIMITS_CHECK_INTERVAL_MS + SHARED_LIMITS_LOOK_TIMEOUT_MS).toBeLessThanOrEqual(
      FALL_NOTICED_WITHIN_MS,
    );
  });

  it('never lets a request wait for more than two commands, which stay below its bound', () => {
    expect(2 * SHARED_LIMITS_COMMAND_TIMEOUT_MS).toBeLessThan(REQUEST_WITHIN_MS);
  });

  it('always says a fall once and a return once', () => {
    const real = drive(rateLimitsMachine);
    real.done('look');
    for (let i = 0; i < 5; i += 1) real.send(FAILED);
    real.advance(real.nextTimerMs() ?? 0);
    real.done('look');
    real.advance(real.nextTimerMs() ?? 0);
    real.done('look');
    expect(real.takeEffects().map(({ type }) => type)).toEqual([
      ...['tellShared', 'tellApart', 'tellShared'],
    ]);
    expect(real.snapshot().context).toEqual({ good: 0, falls: 1 });
  });
});
