// What a saved search may count and what it owes: starts, each once within a window, and only of a search that PostgreSQL
// still knows.
import { describe, expect, it } from 'vitest';
import { WORLD_BEGINS_MS } from '../world/clocks.ts';
import type { Observation } from '../world/observation.ts';
import type { FleetView } from './checker.ts';
import { forgetful } from './forgetful.ts';
import { searchEdges } from './search-edges.ts';

const WINDOW_MS = 60_000;
const SEARCH = { name: 'many', binary: 'curl', threshold: 2, windowMs: WINDOW_MS };
type Told = readonly [atMs: number, seen: Observation];

/** A fleet whose one Console received these starts, and whose inbox has crossings at these instants. */
function found(
  starts: readonly (readonly [atMs: number, id: string])[],
  crossings: readonly number[],
  more: readonly Told[] = [],
): readonly string[] {
  const details: string[] = [];
  const batches: object[] = [];
  const listeners: ((seen: Observation, atMs: number) => void)[] = [];
  const now = { ms: 0 };
  const fleet = {
    ...{ keepers: 1, forgets: true, copies: { ever: () => [] } },
    consoles: [{ clock: { errorMs: () => 0 } }],
    nodes: [{ name: 'n', engine: { deedOf: () => ({ binary: 'curl', isStart: true, atMs: 0 }) } }],
    world: {
      scheduler: { now: () => now.ms },
      subscribe: (listener: (typeof listeners)[number]) => listeners.push(listener),
    },
    stores: {
      analytics: { rows: { batches: () => batches } },
      relational: {
        inbox: {
          list: () =>
            crossings.map((ms) => ({ count: 1, alert: { occurredAtMs: WORLD_BEGINS_MS + ms } })),
        },
      },
    },
  } as unknown as FleetView;
  const checker = forgetful(searchEdges).make(fleet, (detail) => details.push(detail));
  const story: readonly Told[] = [
    [1, { kind: 'search.asked', search: SEARCH }],
    [2, { kind: 'search.told', name: 'many', search: 'id', createdMs: WORLD_BEGINS_MS }],
    ...more,
    ...starts.map(([atMs, id]): Told => [atMs, stored(id, atMs)]),
  ];
  for (const [atMs, seen] of story) {
    now.ms = atMs;
    if (seen.kind === 'events.stored') batches.push(batchOf(seen));
    for (const listener of listeners) listener(seen, atMs);
    checker.observe?.(seen, atMs);
  }
  now.ms += 5 * WINDOW_MS;
  checker.finish?.(now.ms);
  return details;
}

const stored = (id: string, atMs: number): Extract<Observation, { kind: 'events.stored' }> => ({
  ...{ kind: 'events.stored', console: 'c' },
  batches: [
    {
      ...{ sensor: 's', stream: 'x', channel: 'stream', sequence: 1, events: [id] },
      receivedAtMs: WORLD_BEGINS_MS + atMs,
    },
  ],
});

function batchOf({ batches: [batch] }: Extract<Observation, { kind: 'events.stored' }>): object {
  const events = batch?.events.map((event_id) => ({
    ...{ event_id, observed_at: new Date(0).toISOString(), process: { exec_id: 'n:1' } },
  }));
  return { sensorId: 's', receivedAtMs: batch?.receivedAtMs, events };
}

describe('search edges: what may be counted', () => {
  const LATE_MS = 10 * WINDOW_MS;

  it('should take a start that is sent again much later, and no repeat within the window', () => {
    const again = [LATE_MS, 'a'] as const;
    const crossing = LATE_MS + 2_000;
    expect(found([[1_000, 'a'], again, [LATE_MS + 1, 'b']], [crossing])).toEqual([]);
    expect(found([again, [LATE_MS + 1, 'a']], [crossing])).toEqual([
      `many tells of a crossing at ${WORLD_BEGINS_MS + crossing}, with 1 starts`,
    ]);
  });
});

describe('search edges: what is owed', () => {
  const full = [
    [2 * WINDOW_MS, 'a'],
    [2 * WINDOW_MS + 1_000, 'b'],
  ] as const;

  it('should demand that a full window is told, unless PostgreSQL forgot the search', () => {
    const forgot = (sinceMs: number): Told => [3, { kind: 'relational.forgot', sinceMs }];
    expect(found(full, [])).toHaveLength(1);
    expect(found(full, [], [forgot(2)])).toHaveLength(1);
    expect(found(full, [], [forgot(1)])).toEqual([]);
  });
});
