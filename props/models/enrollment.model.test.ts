// One enrollment beside a count of failures: it asks until an answer is final, and waits as long as it has to.
// invariant: I2
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { RETRY_AFTER_MAX_MS } from '../../machines/limits.ts';
import { enrollmentMachine } from '../../machines/sensor/enrollment.machine.ts';
import type { EnrollmentAttempt } from '../../machines/sensor/enrollment.rules.ts';
import { type Driven, drive, itsMachineAgrees, type Move, move, timeMoves } from './driver.ts';

const MIN_MS = 1_000;
const MAX_MS = 60_000;
type Model = {
  at: 'requesting' | 'waiting' | 'enrolled' | 'refused';
  failures: number;
  askedMs: number | null;
  waitedMs: number;
};
type Real = Driven<typeof enrollmentMachine>;

const attempt: fc.Arbitrary<EnrollmentAttempt | undefined> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.constant({ kind: 'enrolled', sensorId: 's', notAfterMs: 9 } as const),
  },
  {
    weight: 1,
    arbitrary: fc.constant({ kind: 'refused', code: 'token_invalid', detail: '' } as const),
  },
  { weight: 1, arbitrary: fc.constant(undefined) },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('retry' as const),
      reason: fc.constant('busy'),
      retryAfterMs: fc.option(fc.integer({ min: -1_000, max: 2 * RETRY_AFTER_MAX_MS })),
    }),
  },
);
function failed(model: Model, askedMs: number | null): void {
  model.at = 'waiting';
  model.failures += 1;
  model.askedMs = askedMs;
  model.waitedMs = 0;
}
const answer = attempt.map(
  (given): Move<Model, Real> => ({
    name: `answer(${JSON.stringify(given)})`,
    run(model, real) {
      real.done('requestEnrollment', given);
      if (model.at !== 'requesting') return;
      if (given === undefined) failed(model, null);
      else if (given.kind === 'retry') failed(model, given.retryAfterMs);
      else model.at = given.kind;
    },
  }),
);
const breaks = move<Model, Real>('break', (model, real) => {
  real.fail('requestEnrollment');
  if (model.at === 'requesting') failed(model, null);
});
const time = timeMoves<Model, typeof enrollmentMachine>((model, { ms, isDue }) => {
  if (model.at !== 'waiting') return;
  model.waitedMs += ms;
  if (isDue) model.at = 'requesting';
});

describe('enrollment', () => {
  itsMachineAgrees(enrollmentMachine, {
    input: fc.integer(),
    begin: (seed) => ({
      model: { at: 'requesting', failures: 0, askedMs: null, waitedMs: 0 } as Model,
      real: drive(enrollmentMachine, { retryMinMs: MIN_MS, retryMaxMs: MAX_MS, seed }),
    }),
    moves: [answer, answer, breaks, time],
    agree(model, real) {
      const { value, context, status } = real.snapshot();
      expect(value).toBe(model.at);
      expect(context.failures).toBe(model.failures);
      expect(real.running()).toEqual(model.at === 'requesting' ? ['requestEnrollment'] : []);
      expect(status).toBe(model.at === 'enrolled' || model.at === 'refused' ? 'done' : 'active');
      // One effect tells that the try failed, and only then.
      expect(real.takeEffects().every((one) => one.type === 'tellRetry')).toBe(true);
      if (model.at !== 'waiting') return;
      const waitMs = (real.nextTimerMs() ?? -1) + model.waitedMs;
      const asked = Math.min(RETRY_AFTER_MAX_MS, Math.max(0, model.askedMs ?? 0));
      const upperMs = Math.min(MAX_MS, MIN_MS * 2 ** model.failures);
      expect(waitMs).toBeGreaterThanOrEqual(Math.max(asked, MIN_MS, upperMs / 2));
      expect(waitMs).toBeLessThanOrEqual(Math.max(asked, upperMs));
    },
  });
});
