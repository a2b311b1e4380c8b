// An alert counts what matched exactly, is settled by somebody, and never opens again: what happens later is an alert of its
// own that names it. decision: D130
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ALERT_SEVERITIES } from '../../machines/console/delivery/alert.ts';
import {
  ALERT_RESOLUTIONS,
  type AlertEvent,
  alertMachine,
  type MatchedFacts,
} from '../../machines/console/detection/alert.machine.ts';
import {
  type AlertStanding,
  alertAfter,
  isLive,
  newAlert,
} from '../../machines/console/detection/alert-standing.ts';
import { ALERT_EVENTS_SHOWN_MAX } from '../../machines/limits.ts';
import { describeMachineLaws } from './laws.ts';

const atMs = fc.integer({ min: 0, max: 1_000 });
const by = fc.constantFrom('user:ada', 'user:bob');
const matched: fc.Arbitrary<MatchedFacts> = fc
  .tuple(
    fc.uniqueArray(fc.nat(999).map(String), { minLength: 1, maxLength: 30 }),
    fc.tuple(atMs, atMs),
    fc.constantFrom(...ALERT_SEVERITIES),
  )
  .map(([eventIds, [a, b], severity]) => ({
    ...{ count: eventIds.length, eventIds, severity },
    ...{ firstAtMs: Math.min(a, b), lastAtMs: Math.max(a, b) },
  }));
const event: fc.Arbitrary<AlertEvent> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('alert.matched' as const),
      atMs,
      quietMs: fc.constantFrom(0, 300),
      matched,
    }),
  },
  fc.record({ type: fc.constant('alert.acknowledged' as const), atMs, by }),
  fc.record({ type: fc.constant('alert.assigned' as const), atMs, to: fc.option(by) }),
  fc.record({
    type: fc.constant('alert.resolved' as const),
    atMs,
    by,
    resolution: fc.constantFrom(...ALERT_RESOLUTIONS),
  }),
  fc.record({ type: fc.constant('alert.reopened' as const), atMs, as: fc.constant('other') }),
);

describeMachineLaws({ name: 'alert', machine: alertMachine, input: matched, events: event });

const runs = fc.tuple(matched, fc.array(event, { maxLength: 40 }));
function walked([first, events]: readonly [MatchedFacts, readonly AlertEvent[]]) {
  const steps: { readonly before: AlertStanding; event: AlertEvent; after: AlertStanding }[] = [];
  let standing = newAlert(first);
  for (const one of events) {
    const after = alertAfter(standing, one);
    steps.push({ before: standing, event: one, after });
    standing = after;
  }
  return steps;
}

describe('an alert', () => {
  it('always counts a match while it is live or quiet, and never otherwise', () => {
    fc.assert(
      fc.property(runs, (run) => {
        for (const { before, event: one, after } of walked(run)) {
          if (one.type !== 'alert.matched') {
            expect(after.count).toBe(before.count);
            continue;
          }
          const isQuiet =
            before.state === 'resolved' &&
            Math.abs(one.atMs - (before.resolvedAtMs ?? 0)) < one.quietMs;
          const isTaken = isLive(before) || isQuiet;
          expect(after.count - before.count).toBe(isTaken ? one.matched.count : 0);
          expect(after === before).toBe(!isTaken);
          expect(after.state).toBe(before.state);
        }
      }),
    );
  });

  it('never loses the span of what matched, its worst severity, or its newest events', () => {
    fc.assert(
      fc.property(runs, ([first, events]) => {
        const taken = [first];
        for (const { before, event: one, after } of walked([first, events])) {
          if (one.type === 'alert.matched' && after !== before) taken.push(one.matched);
          const rank = (of: MatchedFacts) => ALERT_SEVERITIES.indexOf(of.severity);
          expect(after.firstMatchedAtMs).toBe(Math.min(...taken.map((of) => of.firstAtMs)));
          expect(after.lastMatchedAtMs).toBe(Math.max(...taken.map((of) => of.lastAtMs)));
          expect(ALERT_SEVERITIES.indexOf(after.severity)).toBe(Math.max(...taken.map(rank)));
          const ids = taken.flatMap((of) => of.eventIds);
          expect(after.eventIds).toEqual(ids.slice(-ALERT_EVENTS_SHOWN_MAX));
        }
      }),
    );
  });

  it('never goes back: once settled it is never live, and each end says who and why', () => {
    fc.assert(
      fc.property(runs, (run) => {
        for (const { before, after } of walked(run)) {
          if (!isLive(before)) expect(isLive(after)).toBe(false);
          if (before.state === 'acknowledged') expect(after.state).not.toBe('open');
          expect(after.resolvedBy === null).toBe(isLive(after));
          expect(after.resolution === null).toBe(isLive(after));
          expect(after.reopenedAs !== null).toBe(after.state === 'reopened');
          if (after.state === 'acknowledged') expect(after.acknowledgedBy).not.toBeNull();
        }
      }),
    );
  });
});
