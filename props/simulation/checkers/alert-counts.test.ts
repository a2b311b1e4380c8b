// What alerts may count and what they owe, where a node sends again what a rule was too late for, and where the clocks of
// two Consoles drifted apart.
import { describe, expect, it } from 'vitest';
import { WORLD_BEGINS_MS } from '../world/clocks.ts';
import type { KeptRule, Observation } from '../world/observation.ts';
import { alertCounts } from './alert-counts.ts';
import type { FleetView } from './checker.ts';

const MINUTE_MS = 60_000;
const RULE: KeptRule = {
  ...{ id: 'fleet', detects: 'fleet_match', binaries: ['bash'], threshold: 1, windowMs: 0 },
};
/** A start of bash: when it was received, and when it was stored. */
type Start = {
  readonly id: string;
  readonly receivedMs: number;
  readonly storedMs: number;
};

/** A fleet that asked for the rule at an instant; `counted`: what its one alert counts; `aheadMs`: the clock of one Console. */
function found(of: {
  readonly askedMs: number;
  readonly starts: readonly Start[];
  readonly counted: readonly string[];
  readonly aheadMs?: number;
}): readonly string[] {
  const { askedMs, starts, counted, aheadMs = 0 } = of;
  const details: string[] = [];
  const batches: object[] = [];
  const listeners: ((seen: Observation, atMs: number) => void)[] = [];
  const now = { ms: 0 };
  const fleet = {
    ...{ keepers: 1, copies: { ever: () => [] }, isDisturbed: () => false },
    consoles: [0, aheadMs].map((errorMs) => ({ clock: { errorMs: () => errorMs } })),
    nodes: [{ name: 'n', engine: { deedOf: () => ({ binary: 'bash', isStart: true, atMs: 0 }) } }],
    world: {
      scheduler: { now: () => now.ms },
      subscribe: (listener: (typeof listeners)[number]) => listeners.push(listener),
    },
    stores: {
      analytics: { rows: { batches: () => batches } },
      relational: {
        rules: { list: () => [] },
        inbox: {
          list: () => [{ count: counted.length, alert: { alertId: 'a' } }],
          events: () => counted.map((matchId) => ({ matchId })),
        },
      },
    },
  } as unknown as FleetView;
  const checker = alertCounts.make(fleet, (detail) => details.push(detail));
  const tell = (atMs: number, seen: Observation): void => {
    now.ms = atMs;
    for (const listener of listeners) listener(seen, atMs);
  };
  const story = [
    { atMs: askedMs, seen: { kind: 'rule.asked', rule: RULE, muted: null } as const },
    {
      atMs: askedMs + 1,
      seen: {
        ...({ kind: 'rule.told', rule: RULE.id, muted: null } as const),
        activeMs: WORLD_BEGINS_MS + askedMs,
      },
    },
    ...starts.map((start) => ({ atMs: start.storedMs, seen: stored(start), start })),
  ].sort((a, b) => a.atMs - b.atMs);
  for (const one of story) {
    if ('start' in one) batches.push(batchOf(one.start));
    tell(one.atMs, one.seen);
  }
  now.ms += 5 * MINUTE_MS;
  checker.finish?.(now.ms);
  return details;
}

const stored = ({ id, receivedMs }: Start): Observation => ({
  ...{ kind: 'events.stored', console: 'c' },
  batches: [
    {
      ...{ sensor: 's', stream: 'x', channel: 'stream', sequence: 1, events: [id] },
      receivedAtMs: WORLD_BEGINS_MS + receivedMs,
    },
  ],
});

const batchOf = ({ id, receivedMs }: Start): object => ({
  ...{ sensorId: 's', receivedAtMs: WORLD_BEGINS_MS + receivedMs },
  events: [{ event_id: id, observed_at: new Date(0).toISOString(), process: { exec_id: 'n:1' } }],
});

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
