// What looks at the analytics database say: two alike decide, the words follow from the numbers alone, and what a server does
// not tell means nothing. decision: D155
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import { analyticsHealthMachine } from '../../machines/console/telemetry/analytics-health.machine.ts';
import {
  ANALYTICS_FINDINGS,
  type AnalyticsReading,
  FINDING_WORDS,
  findingsOf,
  isAway,
} from '../../machines/console/telemetry/analytics-health.rules.ts';
import {
  ANALYTICS_DISK_FULL_RATIO,
  ANALYTICS_DISK_LOW_RATIO,
  ANALYTICS_LOOKS_MIN,
  ANALYTICS_MERGE_LONG_MS,
  ANALYTICS_PARTS_MANY,
  ANALYTICS_PARTS_MAX,
  ANALYTICS_SLOW_MS,
} from '../../machines/limits.ts';
import { describeMachineLaws } from './laws.ts';

const GOOD: AnalyticsReading = {
  ...{ atMs: 1, pingMs: 1, insertMs: 5, queryMs: 5, parts: 10, partsMost: 5, merges: 0 },
  ...{ longestMergeMs: 0, diskFreeBytes: 50, diskTotalBytes: 100, queuedRows: 0 },
};
const ms = fc.option(fc.integer({ min: 0, max: 3 * ANALYTICS_SLOW_MS }));
const count = fc.option(fc.integer({ min: 0, max: 2 * ANALYTICS_PARTS_MAX }));
const reading: fc.Arbitrary<AnalyticsReading> = fc.record({
  ...{ atMs: fc.integer({ min: 0, max: 1_000 }), pingMs: ms, insertMs: ms, queryMs: ms },
  ...{ parts: count, partsMost: count, merges: count },
  longestMergeMs: fc.option(fc.integer({ min: 0, max: 2 * ANALYTICS_MERGE_LONG_MS })),
  diskFreeBytes: fc.option(fc.integer({ min: 0, max: 100 })),
  diskTotalBytes: fc.option(fc.constantFrom(0, 100)),
  queuedRows: fc.nat(10),
});
const biased = fc.oneof(reading, fc.constant(GOOD), fc.constant({ ...GOOD, pingMs: null }));

describeMachineLaws({
  name: 'analytics health',
  machine: analyticsHealthMachine,
  input: fc.constant(undefined),
  events: biased.map((one) => ({ type: 'store.looked' as const, reading: one })),
});

describe('the health of the analytics database', () => {
  it('always changes only after as many alike looks as it takes, and then to what they say', () => {
    fc.assert(
      fc.property(fc.array(biased, { maxLength: 30 }), (readings) => {
        const actor = createActor(analyticsHealthMachine).start();
        const verdicts: string[] = [];
        for (const one of readings) {
          const before = actor.getSnapshot().value;
          actor.send({ type: 'store.looked', reading: one });
          const findings = findingsOf(one);
          const bad = isAway(findings) ? 'away' : 'degraded';
          verdicts.push(findings.length === 0 ? 'healthy' : bad);
          const last = verdicts.slice(-ANALYTICS_LOOKS_MIN);
          const isSure = last.length === ANALYTICS_LOOKS_MIN && new Set(last).size === 1;
          expect(actor.getSnapshot().value).toBe(isSure ? last[0] : before);
        }
        actor.stop();
      }),
    );
  });

  it.each([
    ['insert_slow', { insertMs: ANALYTICS_SLOW_MS }, { insertMs: ANALYTICS_SLOW_MS + 1 }],
    ['query_slow', { queryMs: ANALYTICS_SLOW_MS }, { queryMs: ANALYTICS_SLOW_MS + 1 }],
    ['parts_many', { partsMost: ANALYTICS_PARTS_MANY }, { partsMost: ANALYTICS_PARTS_MANY + 1 }],
    ['parts_too_many', { partsMost: ANALYTICS_PARTS_MAX }, { partsMost: ANALYTICS_PARTS_MAX + 1 }],
    [
      'merge_long',
      { longestMergeMs: ANALYTICS_MERGE_LONG_MS },
      { longestMergeMs: ANALYTICS_MERGE_LONG_MS + 1 },
    ],
    ['disk_low', { diskFreeBytes: 100 * ANALYTICS_DISK_LOW_RATIO }, { diskFreeBytes: 9 }],
    ['disk_full', { diskFreeBytes: 100 * ANALYTICS_DISK_FULL_RATIO }, { diskFreeBytes: 2 }],
    ['insert_failed', { insertMs: 0 }, { insertMs: null }],
    ['query_failed', { queryMs: 0 }, { queryMs: null }],
    ['ping_failed', { pingMs: 0 }, { pingMs: null }],
  ] as const)('should find %s beyond its bound, and not at it', (name, at, beyond) => {
    expect(findingsOf({ ...GOOD, ...at })).not.toContain(name);
    expect(findingsOf({ ...GOOD, ...beyond })).toContain(name);
  });

  it('never finds anything in what a server does not tell', () => {
    const silent = { parts: null, partsMost: null, merges: null, longestMergeMs: null };
    const reading = { ...GOOD, ...silent, diskFreeBytes: null, diskTotalBytes: null };
    expect(findingsOf(reading)).toEqual([]);
    for (const one of ANALYTICS_FINDINGS) expect(FINDING_WORDS[one]).toMatch(/\.$/);
  });
});
