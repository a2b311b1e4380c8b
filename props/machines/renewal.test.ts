import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RenewalSnapshot, renewalMachine } from '../../machines/sensor/renewal.machine.ts';
import {
  isOverlapOver,
  isRenewalTime,
  nextLookMs,
  trustStateAt,
} from '../../machines/sensor/renewal.rules.ts';
import { describeMachineLaws } from './laws.ts';
import { initialTransition, transition } from './moves.ts';

const oneOf = (...all: readonly unknown[]) =>
  fc.nat(1_000).map((at) => all[Math.floor(at / 2) % all.length]);
const HOUR = 3_600_000;
const INPUT = {
  notAfterMs: 1_000 * HOUR,
  overlapEndsMs: null,
  recommendedMs: 72 * HOUR,
  dueMs: 24 * HOUR,
  retryMinMs: 5_000,
  retryMaxMs: 900_000,
  seed: 5,
};

describeMachineLaws({
  name: 'renewal',
  machine: renewalMachine,
  input: fc.record({
    notAfterMs: fc.integer({ min: 0, max: 2_000 * HOUR }),
    overlapEndsMs: fc.option(fc.integer({ min: 0, max: 2_000 * HOUR })),
    recommendedMs: fc.constant(72 * HOUR),
    dueMs: fc.constant(24 * HOUR),
    retryMinMs: fc.constant(5_000),
    retryMaxMs: fc.constant(900_000),
    seed: fc.integer(),
  }),
  events: fc.oneof(
    fc.constant({ type: 'renewal.requested' }),
    fc.constant({ type: 'clock.jumped' }),
  ),
  outputs: {
    readClock: fc.integer({ min: 0, max: 2_000 * HOUR }),
    renewCertificate: oneOf(
      { kind: 'renewed', notAfterMs: 3_000 * HOUR, overlapEndsMs: 1_024 * HOUR },
      { kind: 'renewed', notAfterMs: HOUR, overlapEndsMs: null },
      { kind: 'failed', reason: 'unreachable', retryAfterMs: 1_000 },
    ),
    tryCertificate: oneOf('accepted', 'rejected', 'unreachable'),
    fallBack: fc.constant({ notAfterMs: 1_000 * HOUR }),
  },
});

const step = (snapshot: RenewalSnapshot, next: { type: string; [key: string]: unknown }) =>
  transition(renewalMachine, snapshot, next as never)[0];
const at = (nowMs: number): RenewalSnapshot =>
  step(initialTransition(renewalMachine, INPUT)[0], {
    type: 'xstate.done.actor.readClock',
    output: nowMs,
  });

describe('renewal: rules', () => {
  it('always renews from exactly 72 hours before expiry and never earlier by itself', () => {
    const edge = INPUT.notAfterMs - INPUT.recommendedMs;
    expect(at(edge - 1).value).toBe('sleeping');
    expect(at(edge).value).toBe('renewing');
    expect(step(at(0), { type: 'renewal.requested' }).value).toBe('renewing');
  });

  it('never sleeps past the window, the end of the overlap or a day', () => {
    fc.assert(
      fc.property(fc.nat(2_000 * HOUR), fc.option(fc.nat(2_000 * HOUR)), (nowMs, overlapEndsMs) => {
        const dates = { ...INPUT, overlapEndsMs };
        const waitMs = nextLookMs(dates, nowMs);
        expect(waitMs).toBeGreaterThan(0);
        expect(waitMs).toBeLessThanOrEqual(24 * HOUR);
        const edge = INPUT.notAfterMs - INPUT.recommendedMs;
        if (nowMs < edge - 100) expect(nowMs + waitMs).toBeLessThanOrEqual(edge);
        expect(isRenewalTime(dates, edge)).toBe(true);
        if (overlapEndsMs !== null) {
          expect(isOverlapOver(dates, overlapEndsMs - 1)).toBe(false);
          expect(isOverlapOver(dates, overlapEndsMs)).toBe(true);
        }
      }),
    );
  });

  it('always falls back to the previous pair when the new one is not known, then renews again', () => {
    let snapshot = step(at(INPUT.notAfterMs), {
      type: 'xstate.done.actor.renewCertificate',
      output: { kind: 'renewed', notAfterMs: 3_000 * HOUR, overlapEndsMs: 1_024 * HOUR },
    });
    expect(snapshot.value).toBe('trying');
    snapshot = step(snapshot, { type: 'xstate.done.actor.tryCertificate', output: 'rejected' });
    expect(snapshot.value).toBe('falling_back');
    snapshot = step(snapshot, {
      type: 'xstate.done.actor.fallBack',
      output: { notAfterMs: INPUT.notAfterMs },
    });
    expect(snapshot.value).toBe('retrying');
    expect(snapshot.context.notAfterMs).toBe(INPUT.notAfterMs);
  });

  it('never renews twice in a row because the clock or the lifetime is odd', () => {
    let snapshot = step(at(INPUT.notAfterMs), {
      type: 'xstate.done.actor.renewCertificate',
      output: { kind: 'renewed', notAfterMs: INPUT.notAfterMs + HOUR, overlapEndsMs: null },
    });
    snapshot = step(snapshot, { type: 'xstate.done.actor.tryCertificate', output: 'accepted' });
    const looked = { type: 'xstate.done.actor.readClock', output: INPUT.notAfterMs };
    snapshot = step(snapshot, looked);
    expect(snapshot.value).toBe('resting');
    expect(step(snapshot, { type: 'renewal.requested' }).value).toBe('resting');
    snapshot = step(snapshot, { type: 'xstate.after.restMs.renewal.resting' });
    expect(step(snapshot, looked).value).toBe('renewing');
  });

  it('always follows the dates in what it says of its trust', () => {
    const said = (nowMs: number) => trustStateAt(INPUT.notAfterMs, nowMs, INPUT);
    const leftMs = [INPUT.recommendedMs + 1, INPUT.recommendedMs, INPUT.dueMs + 1, INPUT.dueMs, 0];
    expect(leftMs.map((left) => said(INPUT.notAfterMs - left))).toEqual([
      'trusted',
      'renewal_recommended',
      'renewal_recommended',
      'renewal_due',
      'renewal_due',
    ]);
  });

  it('always looks at the wall clock again when it jumps', () => {
    expect(step(at(0), { type: 'clock.jumped' }).value).toBe('looking');
  });
});
