// A saved search tells of each crossing of its threshold once: never without one, never twice, and again only after it was
// calm. decision: D142; invariant: I8
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type SavedSearchEvent,
  savedSearchMachine,
} from '../../machines/console/hunting/saved-search.machine.ts';
import {
  bucketMsOf,
  bucketsAfter,
  type CountedBucket,
  isCalm,
  isCrossed,
  matchesIn,
} from '../../machines/console/hunting/saved-search.rules.ts';
import {
  newSavedSearch,
  type SavedSearchStanding,
  savedSearchAfter,
} from '../../machines/console/hunting/saved-search-standing.ts';
import {
  SAVED_SEARCH_BUCKETS,
  SAVED_SEARCH_IDS_MAX,
  SAVED_SEARCH_WINDOW_MAX_MS,
} from '../../machines/limits.ts';
import { describeMachineLaws } from './laws.ts';

const WINDOW_MS = 60_000;
const BUCKET_MS = bucketMsOf(WINDOW_MS);
const id = fc.integer({ min: 0, max: 60 }).map(String);
const bucket = fc
  .tuple(fc.integer({ min: 0, max: 200 }), fc.uniqueArray(id, { maxLength: 8 }), fc.nat({ max: 3 }))
  .map(
    ([at, eventIds, more]): CountedBucket => ({
      ...{ fromMs: at * BUCKET_MS, events: eventIds.length + more, eventIds },
    }),
  );
const read = fc.record({
  type: fc.constant('matches.read' as const),
  readToMs: fc.integer({ min: 0, max: 200 }).map((at) => at * BUCKET_MS),
  windowMs: fc.constant(WINDOW_MS),
  threshold: fc.constantFrom(1, 5, 10),
  found: fc.array(bucket, { maxLength: 4 }),
  alertId: fc.uuid(),
});
const event: fc.Arbitrary<SavedSearchEvent> = fc.oneof(
  { weight: 8, arbitrary: read },
  fc.record({ type: fc.constant('question.refused' as const), reason: fc.string() }),
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('alert.taken' as const), atMs: fc.nat() }),
  },
  fc.record({ type: fc.constant('search.paused' as const) }),
  fc.record({ type: fc.constant('search.resumed' as const) }),
  fc.record({ type: fc.constant('search.changed' as const) }),
);

describeMachineLaws({
  name: 'saved-search',
  machine: savedSearchMachine,
  input: fc.constant(undefined),
  events: event,
});

const walked = (events: readonly SavedSearchEvent[]): readonly SavedSearchStanding[] => {
  const steps = [newSavedSearch];
  for (const one of events) {
    const last = steps.at(-1);
    if (last !== undefined) steps.push(savedSearchAfter(last, one));
  }
  return steps;
};
const many = fc.array(event, { maxLength: 40 });

describe('a saved search', () => {
  it('always begins to tell by a crossing, with an id of its own, and counts it once', () => {
    fc.assert(
      fc.property(many, (events) => {
        const steps = walked(events);
        for (const [at, one] of events.entries()) {
          const [before, after] = [steps[at], steps[at + 1]];
          const isNew = after?.state === 'telling' && before?.state !== 'telling';
          expect((after?.crossings ?? 0) - (before?.crossings ?? 0)).toBe(isNew ? 1 : 0);
          if (!isNew || one.type !== 'matches.read') continue;
          expect(before?.state).toBe('below');
          expect(after?.crossedWith).toBeGreaterThanOrEqual(one.threshold);
          expect(after?.alertId).toBe(one.alertId);
        }
      }),
    );
  });

  it('never forgets a crossing before it is taken', () => {
    fc.assert(
      fc.property(many, (events) => {
        const steps = walked(events);
        for (const [at, one] of events.entries()) {
          const [before, after] = [steps[at], steps[at + 1]];
          if (before?.state !== 'telling') continue;
          expect(after?.alertId).toBe(before.alertId);
          expect(after?.state).toBe(one.type === 'alert.taken' ? 'above' : 'telling');
        }
      }),
    );
  });

  it('never tells again before it was calm, paused, halted or changed', () => {
    fc.assert(
      fc.property(many, (events) => {
        const steps = walked(events);
        let isArmed = true;
        for (const { state } of steps) {
          if (state === 'telling' && !isArmed) return expect.fail('it was not calm');
          if (state === 'above') isArmed = false;
          if (state === 'below' || state === 'paused' || state === 'halted') isArmed = true;
        }
      }),
    );
  });
});

describe('counting', () => {
  it('is always the same, however it is cut into looks', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 50 }), id), { maxLength: 60 }),
        fc.uniqueArray(fc.integer({ min: 1, max: 50 }), { maxLength: 6 }),
        (received, looks) => {
          const ends = [...looks.sort((a, b) => a - b), 51];
          let buckets: readonly CountedBucket[] = [];
          let from = 0;
          for (const to of ends) {
            buckets = bucketsAfter(buckets, foundIn(received, from, to), {
              ...{ readToMs: to * BUCKET_MS, windowMs: WINDOW_MS },
            });
            from = to;
          }
          const whole = bucketsAfter([], foundIn(received, 0, 51), {
            ...{ readToMs: 51 * BUCKET_MS, windowMs: WINDOW_MS },
          });
          expect(matchesIn(buckets)).toBe(matchesIn(whole));
          expect(matchesIn(whole)).toBe(new Set(received.map(([, one]) => one)).size);
        },
      ),
    );
  });

  it('always has bounded stretches and ids', () => {
    fc.assert(
      fc.property(fc.integer({ min: 10_000, max: SAVED_SEARCH_WINDOW_MAX_MS }), (windowMs) => {
        const stretches = windowMs / bucketMsOf(windowMs);
        expect(stretches).toBeLessThanOrEqual(SAVED_SEARCH_BUCKETS);
        expect(bucketMsOf(windowMs) % 1_000).toBe(0);
      }),
    );
    const eventIds = Array.from({ length: 2 * SAVED_SEARCH_IDS_MAX }, (_, at) => String(at));
    const [kept] = bucketsAfter([], [{ fromMs: 0, events: eventIds.length, eventIds }], {
      ...{ readToMs: 1, windowMs: WINDOW_MS },
    });
    expect([kept?.events, kept?.eventIds.length]).toEqual([
      2 * SAVED_SEARCH_IDS_MAX,
      SAVED_SEARCH_IDS_MAX,
    ]);
  });

  it('is never calm where it is crossed, and calm without matches', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 1_000_000 }), (matches, threshold) => {
        expect(isCalm(matches, threshold) && isCrossed(matches, threshold)).toBe(false);
        expect(isCalm(0, threshold)).toBe(true);
      }),
    );
  });
});

/** What a store would answer: each event once in its stretch. */
function foundIn(
  received: readonly (readonly [number, string])[],
  from: number,
  to: number,
): readonly CountedBucket[] {
  const buckets = new Map<number, Set<string>>();
  for (const [at, one] of received) {
    if (at < from || at >= to) continue;
    buckets.set(at, new Set([...(buckets.get(at) ?? []), one]));
  }
  return [...buckets]
    .sort(([a], [b]) => a - b)
    .map(([at, ids]) => ({ fromMs: at * BUCKET_MS, events: ids.size, eventIds: [...ids] }));
}
