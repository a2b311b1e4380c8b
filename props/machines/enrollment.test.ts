import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs, obeyRetryAfter } from '../../machines/sensor/backoff.rules.ts';
import { enrollmentMachine } from '../../machines/sensor/enrollment.machine.ts';
import { judgeRefusal } from '../../machines/sensor/enrollment.rules.ts';
import { describeMachineLaws } from './laws.ts';
import { initialTransition, transition } from './moves.ts';

const INPUT = { retryMinMs: 1_000, retryMaxMs: 60_000, seed: 7 };
const attempt = fc.oneof(
  fc.constant({ kind: 'enrolled', sensorId: 's', notAfterMs: 1 }),
  fc.constant({ kind: 'refused', code: 'token_invalid', detail: 'unknown' }),
  fc.record({
    kind: fc.constant('retry'),
    reason: fc.constant('refused'),
    retryAfterMs: fc.option(fc.nat(100_000)),
  }),
);

describeMachineLaws({
  name: 'enrollment',
  machine: enrollmentMachine,
  input: fc.record({
    retryMinMs: fc.integer({ min: 1, max: 5_000 }),
    retryMaxMs: fc.integer({ min: 5_000, max: 100_000 }),
    seed: fc.integer(),
  }),
  events: fc.constant({ type: 'nothing.it.knows' }),
  outputs: { requestEnrollment: attempt },
});

describe('enrollment: rules', () => {
  it('always stops at a final refusal and always tries again after any other', () => {
    for (const code of ['token_invalid', 'token_consumed', 'token_expired', 'csr_refused']) {
      expect(judgeRefusal(code, '', null).kind).toBe('refused');
    }
    for (const code of ['rate_limited', 'store_unavailable', 'shutting_down', 'internal']) {
      expect(judgeRefusal(code, '', 5).kind).toBe('retry');
    }
  });

  it('always waits at least what the Console asked for', () => {
    fc.assert(
      fc.property(fc.nat(600_000), (retryAfterMs) => {
        const [snapshot] = initialTransition(enrollmentMachine, INPUT);
        const [, actions] = transition(enrollmentMachine, snapshot, {
          type: 'xstate.done.actor.requestEnrollment',
          output: { kind: 'retry', reason: 'busy', retryAfterMs },
        } as never);
        const raised = actions.find((action) => action.type === 'xstate.raise');
        const { delay = 0 } = (raised?.params ?? {}) as { delay?: number };
        expect(delay).toBeGreaterThanOrEqual(retryAfterMs);
      }),
    );
  });

  it('always backs off within its bounds, with the lower bound doubling', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 100 }), (seed, failures) => {
        const waitMs = backoffMs({ seed, failures, minMs: 1_000, maxMs: 30_000 });
        expect(waitMs).toBeGreaterThanOrEqual(Math.min(15_000, 1_000 * 2 ** (failures - 1)));
        expect(waitMs).toBeLessThanOrEqual(Math.min(30_000, 1_000 * 2 ** failures));
        expect(obeyRetryAfter(waitMs, Number.POSITIVE_INFINITY, 1)).toBe(waitMs);
      }),
    );
  });
});
