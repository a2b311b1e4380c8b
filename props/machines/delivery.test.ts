// A delivery is tried until it arrives, is refused for good or is too old; it is never lost between two states, and it ends
// only for a reason. decision: D101
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type DeliveryEvent,
  deliveryMachine,
} from '../../machines/console/delivery/delivery.machine.ts';
import {
  ATTEMPT_FAILURES,
  type AttemptOutcome,
  retryAfterMsOf,
  retryDelayMs,
  verdictOf,
} from '../../machines/console/delivery/delivery.rules.ts';
import {
  type DeliveryStanding,
  deliveryAfter,
  newDelivery,
} from '../../machines/console/delivery/standing.ts';
import {
  DELIVERY_BACKOFF_MAX_MS,
  DELIVERY_BACKOFF_MIN_MS,
  DELIVERY_GIVE_UP_MS,
  DELIVERY_JITTER_RATIO,
  DELIVERY_RETRY_AFTER_MAX_MS,
} from '../../machines/limits.ts';
import { describeMachineLaws } from './laws.ts';

const atMs = fc.integer({ min: 0, max: 2 * DELIVERY_GIVE_UP_MS });
const outcome: fc.Arbitrary<AttemptOutcome> = fc.oneof(
  fc.record({
    kind: fc.constant('answered' as const),
    status: fc.oneof(
      fc.constantFrom(200, 204, 400, 410, 429, 503),
      fc.integer({ min: 100, max: 599 }),
    ),
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 2 * DELIVERY_RETRY_AFTER_MAX_MS })),
  }),
  fc.record({
    kind: fc.constant('failed' as const),
    failure: fc.constantFrom(...ATTEMPT_FAILURES),
  }),
);
const chance = fc.double({ min: 0, max: 1, noNaN: true });
const event: fc.Arbitrary<DeliveryEvent> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('delivery.claimed' as const), atMs }) },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('attempt.ended' as const), atMs, outcome, chance }),
  },
  fc.record({ type: fc.constant('attempt.lost' as const), atMs }),
  fc.record({ type: fc.constant('delivery.folded' as const), atMs, into: fc.constant('other') }),
  fc.record({ type: fc.constant('delivery.dropped' as const), atMs }),
  fc.record({ type: fc.constant('destination.recovered' as const), atMs }),
  fc.record({ type: fc.constant('delivery.replayed' as const), atMs }),
);

describeMachineLaws({
  name: 'delivery',
  machine: deliveryMachine,
  input: fc.record({ nowMs: fc.constant(0) }),
  events: event,
});

const walked = (events: readonly DeliveryEvent[]): readonly DeliveryStanding[] => {
  const steps = [newDelivery(0)];
  for (const one of events) {
    const last = steps.at(-1);
    if (last !== undefined) steps.push(deliveryAfter(last, one));
  }
  return steps;
};
const failedAt = (ms: number): DeliveryEvent => ({
  ...{ type: 'attempt.ended', atMs: ms, chance: 0 },
  outcome: { kind: 'failed', failure: 'timed_out' },
});

describe('a delivery', () => {
  it('always ends delivered or dead by an attempt that said so, folded, or pushed out', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const steps = walked(events);
        for (const [at, one] of events.entries()) {
          const [before, after] = [steps[at], steps[at + 1]];
          if (before?.state === after?.state || after === undefined) continue;
          const verdict = one.type === 'attempt.ended' ? verdictOf(one.outcome) : null;
          if (after.state === 'delivered') expect(verdict).toBe('accepted');
          if (after.state === 'dead' && verdict !== null) {
            const isOld = one.type === 'attempt.ended' && one.atMs >= (before?.giveUpAtMs ?? 0);
            expect(verdict === 'refused' || (verdict === 'again' && isOld)).toBe(true);
          } else if (after.state === 'dead') expect(one.type).toBe('delivery.dropped');
        }
      }),
    );
  });

  it('always has an end exactly while it has ended, and a reason exactly while it is dead', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        for (const { state, endedAtMs, reason, foldedInto } of walked(events)) {
          const isEnded = state === 'delivered' || state === 'dead' || state === 'folded';
          expect(endedAtMs !== null).toBe(isEnded);
          expect(reason !== null).toBe(state === 'dead');
          expect(foldedInto !== null).toBe(state === 'folded');
        }
      }),
    );
  });

  it('never forgets an attempt, and counts one for each claim', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const steps = walked(events);
        for (const [at, one] of events.entries()) {
          const [before, after] = [steps[at], steps[at + 1]];
          const isClaim = one.type === 'delivery.claimed' && before?.state === 'waiting';
          expect(after?.attempts).toBe((before?.attempts ?? 0) + (isClaim ? 1 : 0));
        }
      }),
    );
  });

  it('never is given up before it was tried for 24 hours, nor before its first attempt', () => {
    let standing = newDelivery(0);
    // It waited for days behind a pause: it still has an attempt.
    const late = 5 * DELIVERY_GIVE_UP_MS;
    standing = deliveryAfter(standing, { type: 'delivery.claimed', atMs: late });
    expect(standing.state).toBe('sending');
    expect(deliveryAfter(standing, failedAt(DELIVERY_GIVE_UP_MS - 1)).state).toBe('waiting');
    expect(deliveryAfter(standing, failedAt(DELIVERY_GIVE_UP_MS)).state).toBe('dead');
  });

  it('always begins a new day of tries when it is replayed', () => {
    const steps = walked([
      { type: 'delivery.claimed', atMs: 0 },
      failedAt(DELIVERY_GIVE_UP_MS),
      { type: 'delivery.replayed', atMs: 7 },
    ]);
    expect(steps.at(-1)).toMatchObject({
      ...{ state: 'waiting', dueAtMs: 7, giveUpAtMs: 7 + DELIVERY_GIVE_UP_MS, attempts: 1 },
    });
  });

  it('always waits longer after each failure, within bounds, and as long as the receiver asks', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        chance,
        fc.option(fc.integer({ min: 0, max: 10 * DELIVERY_RETRY_AFTER_MAX_MS })),
        (attempts, one, retryAfterMs) => {
          const delay = retryDelayMs({ attempts, chance: one, retryAfterMs });
          const least = DELIVERY_BACKOFF_MIN_MS * (1 - DELIVERY_JITTER_RATIO);
          expect(delay).toBeGreaterThanOrEqual(Math.floor(least));
          expect(delay).toBeLessThanOrEqual(
            Math.max(DELIVERY_BACKOFF_MAX_MS, DELIVERY_RETRY_AFTER_MAX_MS),
          );
          const wanted = Math.min(DELIVERY_RETRY_AFTER_MAX_MS, retryAfterMs ?? 0);
          expect(delay).toBeGreaterThanOrEqual(wanted);
          const next = retryDelayMs({ attempts: attempts + 1, chance: one, retryAfterMs });
          expect(next).toBeGreaterThanOrEqual(delay);
        },
      ),
    );
  });

  it('reads both forms of Retry-After, and nothing else', () => {
    const nowMs = Date.parse('2026-01-01T00:00:00Z');
    expect(retryAfterMsOf('120', nowMs)).toBe(120_000);
    expect(retryAfterMsOf('Thu, 01 Jan 2026 00:01:00 GMT', nowMs)).toBe(60_000);
    expect(retryAfterMsOf('Wed, 31 Dec 2025 00:00:00 GMT', nowMs)).toBe(0);
    for (const text of ['', '-1', '1.5', 'soon', '2026-01-01', '99999999999']) {
      expect(retryAfterMsOf(text, nowMs)).toBeNull();
    }
    expect(retryAfterMsOf(null, nowMs)).toBeNull();
  });
});
