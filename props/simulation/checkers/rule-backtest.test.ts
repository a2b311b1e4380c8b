// When what a backtest finds is what was found live: a window over a batch that was stored twice is not comparable, and
// everything else is.
import { describe, expect, it } from 'vitest';
import { WORLD_BEGINS_MS } from '../world/clocks.ts';
import type { KeptRule } from '../world/observation.ts';
import { ruleBacktest } from './rule-backtest.ts';
import { reportedOf, type Step } from './starts.fixture.ts';

const RULE: KeptRule = {
  ...{ id: 'count', detects: 'count', binaries: ['bash'], threshold: 2, windowMs: 60_000 },
};
const SPEC = {
  ...{ rule_name: 'count', severity: 'low' },
  detect: { kind: 'count', condition: 'binary:bash', threshold: 2, window_secs: 60 },
};
type Received = readonly [receivedMs: number, id: string, isUnheard?: boolean];

/** What is reported where these starts were stored as they were received, and those are counted. */
function found(starts: readonly Received[], counted: readonly string[]): readonly string[] {
  const told = { kind: 'rule.told', rule: RULE.id, muted: null } as const;
  return reportedOf(ruleBacktest, {
    ...{ program: 'bash', afterwardsMs: 0 },
    story: [
      [0, { kind: 'rule.asked', rule: RULE, muted: null }],
      [0, { ...told, activeMs: WORLD_BEGINS_MS }],
      ...starts.map(([receivedMs, id, isUnheard = false]): Step => {
        return [receivedMs, { id, receivedMs, isUnheard }];
      }),
    ],
    relational: {
      rules: { list: () => [{ ruleId: 'count', spec: SPEC, pause: null, activeSinceMs: 0 }] },
      inbox: {
        list: () => [{ count: counted.length, alert: { alertId: 'a' } }],
        events: () => counted.map((matchId) => ({ matchId })),
      },
    },
  });
}

describe('rule backtest', () => {
  const batches: readonly Received[] = [
    [1_000, 'a'],
    [2_000, 'b'],
    [3_000, 'c'],
  ];

  it('should find that live evaluation counted other starts', () => {
    expect(found(batches, ['a', 'b'])).toEqual([]);
    expect(found(batches, ['b', 'c'])).toHaveLength(1);
  });

  it('should not compare windows where a batch was stored again behind another', () => {
    expect(found([...batches, [4_000, 'a']], ['a', 'b'])).toEqual([]);
    expect(found([...batches, [4_000, 'c']], ['b', 'c'])).toHaveLength(1);
  });

  it('should not compare where a Console gave up what the store wrote afterwards', () => {
    const [a, , c] = batches as [Received, Received, Received];
    expect(found([a, [2_000, 'b', true], c], ['a', 'c'])).toEqual([]);
    expect(found(batches, ['a', 'c'])).toHaveLength(1);
  });
});
