// What alerts may count and what they owe, where a node sends again what a rule was too late for, and where the clocks of
// two Consoles drifted apart.
import { describe, expect, it } from 'vitest';
import { WORLD_BEGINS_MS } from '../world/clocks.ts';
import type { KeptRule } from '../world/observation.ts';
import { alertCounts } from './alert-counts.ts';
import { reportedOf, type Start, type Step } from './starts.fixture.ts';

const MINUTE_MS = 60_000;
const RULE: KeptRule = {
  ...{ id: 'fleet', detects: 'fleet_match', binaries: ['bash'], threshold: 1, windowMs: 0 },
};
type Stored = Start & { readonly storedMs: number };

/** What is reported of a rule that was asked for at an instant, whose one alert counts these. */
function found(of: {
  readonly askedMs: number;
  readonly starts: readonly Stored[];
  readonly counted: readonly string[];
  readonly aheadMs?: number;
}): readonly string[] {
  const { askedMs, starts, counted, aheadMs = 0 } = of;
  const told = { kind: 'rule.told', rule: RULE.id, muted: null } as const;
  const story: readonly Step[] = [
    [askedMs, { kind: 'rule.asked', rule: RULE, muted: null }],
    [askedMs + 1, { ...told, activeMs: WORLD_BEGINS_MS + askedMs }],
    ...starts.map((start): Step => [start.storedMs, start]),
  ];
  return reportedOf(alertCounts, {
    ...{ program: 'bash', aheadMs, afterwardsMs: 5 * MINUTE_MS },
    story: story.toSorted(([a], [b]) => a - b),
    relational: {
      rules: { list: () => [] },
      inbox: {
        list: () => [{ count: counted.length, alert: { alertId: 'a' } }],
        events: () => counted.map((matchId) => ({ matchId })),
      },
    },
  });
}

describe('alert counts: what a rule was too late for', () => {
  const askedMs = 10 * MINUTE_MS;
  const before = { id: 'a', receivedMs: MINUTE_MS, storedMs: MINUTE_MS };
  const again = { id: 'a', receivedMs: 20 * MINUTE_MS, storedMs: 20 * MINUTE_MS };

  it('should find that a rule counts what was stored before anybody asked for it', () => {
    expect(found({ askedMs, starts: [before], counted: ['a'] })).toEqual([
      'rule fleet counts a, stored long before anybody asked for the rule',
    ]);
  });

  it('should let it count what the node sent again since', () => {
    expect(found({ askedMs, starts: [before, again], counted: ['a'] })).toEqual([]);
  });
});

describe('alert counts: what a rule owes', () => {
  const starts = [{ id: 'b', receivedMs: 10 * MINUTE_MS, storedMs: 10 * MINUTE_MS + 58_000 }];

  it('should find that an event was missed that was stored in time', () => {
    const [detail = ''] = found({ askedMs: MINUTE_MS, starts, counted: [] });
    expect(detail).toContain('rule fleet missed 1 of 1: b');
  });

  it('should excuse what was stored too late by the clock of a Console that is ahead', () => {
    expect(found({ askedMs: MINUTE_MS, starts, counted: [], aheadMs: 5_000 })).toEqual([]);
  });
});
