// What a saved search may count and what it owes: starts, each once within a window, and only of a search that PostgreSQL
// still knows.
import { describe, expect, it } from 'vitest';
import { WORLD_BEGINS_MS } from '../world/clocks.ts';
import { forgetful } from './forgetful.ts';
import { searchEdges } from './search-edges.ts';
import { reportedOf, type Step } from './starts.fixture.ts';

const WINDOW_MS = 60_000;
const SEARCH = { name: 'many', binary: 'curl', threshold: 2, windowMs: WINDOW_MS };

/** What is reported where these starts were received, and the inbox has crossings at these instants. */
function found(
  starts: readonly (readonly [atMs: number, id: string])[],
  crossings: readonly number[],
  more: readonly Step[] = [],
): readonly string[] {
  const rows = crossings.map((ms) => ({
    ...{ count: 1, alert: { occurredAtMs: WORLD_BEGINS_MS + ms } },
  }));
  return reportedOf(forgetful(searchEdges), {
    ...{ program: 'curl', afterwardsMs: 5 * WINDOW_MS },
    relational: { inbox: { list: () => rows } },
    story: [
      [1, { kind: 'search.asked', search: SEARCH }],
      [2, { kind: 'search.told', name: 'many', search: 'id', createdMs: WORLD_BEGINS_MS }],
      ...more,
      ...starts.map(([receivedMs, id]): Step => [receivedMs, { id, receivedMs }]),
    ],
  });
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
    const forgot = (sinceMs: number): Step => [3, { kind: 'relational.forgot', sinceMs }];
    expect(found(full, [])).toHaveLength(1);
    expect(found(full, [], [forgot(2)])).toHaveLength(1);
    expect(found(full, [], [forgot(1)])).toEqual([]);
  });
});
