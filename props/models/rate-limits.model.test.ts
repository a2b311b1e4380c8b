// Shared or own budgets beside a small model: together or apart, a look now and then, two good ones to return.
// decision: D41
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import {
  type RateLimitsEvent,
  rateLimitsMachine,
} from '../../machines/console/access/rate-limits.machine.ts';
import {
  SHARED_LIMITS_CHECK_INTERVAL_MS,
  SHARED_LIMITS_GOOD_LOOKS,
  SHARED_LIMITS_LOOK_TIMEOUT_MS,
  SHARED_LIMITS_RETRY_MS,
} from '../../machines/limits.ts';
import { type Driven, drive, itsMachineAgrees, move, timeMoves } from './driver.ts';

const FAILED: RateLimitsEvent = { type: 'count.failed', reason: 'x' };
type At = 'connecting' | 'shared' | 'checking' | 'apart' | 'looking' | 'stopped';
type Model = { at: At; good: number; falls: number; elapsedMs: number };
type Real = Driven<typeof rateLimitsMachine>;

const LASTS: Readonly<Record<At, number | null>> = {
  connecting: SHARED_LIMITS_LOOK_TIMEOUT_MS,
  shared: SHARED_LIMITS_CHECK_INTERVAL_MS,
  checking: SHARED_LIMITS_LOOK_TIMEOUT_MS,
  apart: SHARED_LIMITS_RETRY_MS,
  looking: SHARED_LIMITS_LOOK_TIMEOUT_MS,
  stopped: null,
};
const looks = ({ at }: Model) => at === 'connecting' || at === 'checking' || at === 'looking';
const together = ({ at }: Model) => at === 'shared' || at === 'checking';

function go(model: Model, at: At): void {
  model.at = at;
  model.elapsedMs = 0;
}
function fail(model: Model): void {
  model.good = 0;
  if (model.at !== 'looking') model.falls += 1;
  go(model, 'apart');
}
const good = move<Model, Real>('good look', (model, real) => {
  real.done('look');
  if (!looks(model)) return;
  if (model.at !== 'looking') go(model, 'shared');
  else if (model.good + 1 < SHARED_LIMITS_GOOD_LOOKS) {
    model.good += 1;
    go(model, 'apart');
  } else {
    model.good = 0;
    go(model, 'shared');
  }
});
const bad = move<Model, Real>('bad look', (model, real) => {
  real.fail('look');
  if (looks(model)) fail(model);
});
const lost = move<Model, Real>('count.failed', (model, real) => {
  real.send(FAILED);
  if (together(model)) fail(model);
});
const stop = move<Model, Real>('limits.stop', (model, real) => {
  real.send({ type: 'limits.stop' });
  if (model.at !== 'stopped') go(model, 'stopped');
});
const time = timeMoves<Model, typeof rateLimitsMachine>((model, { ms, isDue }) => {
  model.elapsedMs += ms;
  if (!isDue) return;
  if (looks(model)) fail(model);
  else if (model.at === 'shared') go(model, 'checking');
  else if (model.at === 'apart') go(model, 'looking');
});

describe('rate limits', () => {
  itsMachineAgrees(rateLimitsMachine, {
    input: fc.constant(undefined),
    begin: () => ({
      model: { at: 'connecting', good: 0, falls: 0, elapsedMs: 0 } as Model,
      real: drive(rateLimitsMachine),
    }),
    moves: [
      good,
      good,
      bad,
      fc.oneof({ weight: 1, arbitrary: stop }, { weight: 9, arbitrary: lost }),
      time,
      time,
    ],
    agree(model, real) {
      expect(real.snapshot().value).toBe(model.at);
      expect(real.snapshot().hasTag('counts-together')).toBe(together(model));
      const { good: inARow, falls } = model;
      expect(real.snapshot().context).toEqual({ good: inARow, falls });
      expect(real.running()).toEqual(looks(model) ? ['look'] : []);
      const leftMs = LASTS[model.at];
      expect(real.nextTimerMs()).toBe(leftMs === null ? null : leftMs - model.elapsedMs);
    },
  });
});
