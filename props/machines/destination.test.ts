// A destination that fails is left alone for a while that grows, is then asked by one delivery, and is open again by the
// first that is accepted. decision: D102
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type DestinationEvent,
  destinationMachine,
} from '../../machines/console/delivery/destination.machine.ts';
import {
  fullBucket,
  opensForMs,
  quotaOf,
  refilled,
} from '../../machines/console/delivery/destination.rules.ts';
import {
  type DestinationStanding,
  destinationAfter,
  newDestination,
} from '../../machines/console/delivery/standing.ts';
import {
  BREAKER_FAILURES_MAX,
  BREAKER_OPEN_MAX_MS,
  BREAKER_OPEN_MIN_MS,
  DELIVERIES_RUNNING_PER_WEBHOOK_MAX,
} from '../../machines/limits.ts';
import { describeMachineLaws } from './laws.ts';

const atMs = fc.integer({ min: 0, max: 10 * BREAKER_OPEN_MAX_MS });
const event: fc.Arbitrary<DestinationEvent> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      ...{ type: fc.constant('attempt.failed' as const), atMs },
      failure: fc.constantFrom('timed_out', 'answered 503'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('probe.due' as const), atMs }) },
  fc.record({ type: fc.constant('attempt.accepted' as const), atMs }),
  fc.record({
    ...{ type: fc.constant('attempt.refused' as const), atMs },
    failure: fc.constant('answered 400'),
  }),
  fc.constant({ type: 'breaker.reset' as const }),
);

describeMachineLaws({
  name: 'destination',
  machine: destinationMachine,
  input: fc.constant(undefined),
  events: event,
});

const failed = (ms: number): DestinationEvent => ({
  ...{ type: 'attempt.failed', atMs: ms, failure: 'timed_out' },
});
const opened = (): DestinationStanding =>
  Array.from({ length: BREAKER_FAILURES_MAX }, () => failed(0)).reduce(
    destinationAfter,
    newDestination,
  );

describe('a destination', () => {
  it('always opens with the last straw, and never before', () => {
    let one = newDestination;
    for (let failures = 1; failures <= BREAKER_FAILURES_MAX; failures += 1) {
      one = destinationAfter(one, failed(0));
      expect(one.state).toBe(failures < BREAKER_FAILURES_MAX ? 'closed' : 'open');
    }
  });

  it('always closes by whatever is accepted, and forgets what failed before', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const before = events.reduce(destinationAfter, newDestination);
        const after = destinationAfter(before, { type: 'attempt.accepted', atMs: 7 });
        expect(after).toMatchObject({ state: 'closed', failures: 0, openings: 0 });
      }),
    );
  });

  it('always closes by what is refused for good, and never calls that delivered', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const before = events.reduce(destinationAfter, newDestination);
        const refused = { type: 'attempt.refused', atMs: 7, failure: 'answered 400' } as const;
        expect(destinationAfter(before, refused)).toMatchObject({
          ...{ state: 'closed', failures: 0, openings: 0, lastFailure: 'answered 400' },
          ...{ lastFailedAtMs: 7, lastAcceptedAtMs: before.lastAcceptedAtMs },
        });
      }),
    );
  });

  it('never is probed before its time, and waits longer each time, within bounds', () => {
    let one = opened();
    for (let opening = 0; opening < 12; opening += 1) {
      const waits = opensForMs(opening);
      expect(waits).toBeGreaterThanOrEqual(BREAKER_OPEN_MIN_MS);
      expect(waits).toBeLessThanOrEqual(BREAKER_OPEN_MAX_MS);
      const dueMs = one.openUntilMs;
      expect(destinationAfter(one, { type: 'probe.due', atMs: dueMs - 1 }).state).toBe('open');
      one = destinationAfter(one, { type: 'probe.due', atMs: dueMs });
      expect(one.state).toBe('probing');
      one = destinationAfter(one, failed(dueMs));
      expect(one).toMatchObject({ state: 'open', openUntilMs: dueMs + opensForMs(opening + 1) });
    }
  });

  it('never lets begin more than it may: none while open or paused, one as a probe', () => {
    const nat = fc.nat({ max: 2 * DELIVERIES_RUNNING_PER_WEBHOOK_MAX });
    fc.assert(
      fc.property(
        fc.record({
          ...{ isPaused: fc.boolean(), running: nat },
          breaker: fc.constantFrom('closed' as const, 'open' as const, 'probing' as const),
          tokens: fc.double({ min: 0, max: 100, noNaN: true }),
        }),
        (of) => {
          const quota = quotaOf(of);
          expect(quota).toBeGreaterThanOrEqual(0);
          expect(quota).toBeLessThanOrEqual(of.tokens);
          if (of.isPaused || of.breaker === 'open') expect(quota).toBe(0);
          if (of.breaker === 'probing')
            expect(quota + of.running).toBeLessThanOrEqual(1 + of.running);
          if (quota > 0) {
            expect(quota + of.running).toBeLessThanOrEqual(DELIVERIES_RUNNING_PER_WEBHOOK_MAX);
          }
        },
      ),
    );
  });

  it('never gives more in a minute than its rate and one burst', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6_000 }),
        fc.array(fc.integer({ min: -5_000, max: 10_000 }), { maxLength: 60 }),
        (perMinute, steps) => {
          let [bucket, nowMs, taken, passedMs] = [fullBucket(perMinute, 0), 0, 0, 0];
          for (const step of steps) {
            nowMs += step;
            passedMs += Math.max(0, step);
            bucket = refilled(bucket, perMinute, nowMs);
            taken += Math.floor(bucket.tokens);
            bucket = { ...bucket, tokens: bucket.tokens - Math.floor(bucket.tokens) };
          }
          const most = Math.max(1, perMinute / 6) + (passedMs * perMinute) / 60_000;
          expect(taken).toBeLessThanOrEqual(most + 1e-6);
        },
      ),
    );
  });
});
