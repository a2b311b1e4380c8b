// A saved search over crashes: events come late, twice and in bursts, the Console dies before and after any call, and every
// crossing is told once all the same. A naive model counts who has everything. decision: D142
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSavedSearchLoop } from '../../../actors/hunting/saved-search-loop.ts';
import { silentLogger } from '../../../actors/runtime/silent-logger.ts';
import type { Finding } from '../../../machines/console/detection/finding.ts';
import { newSavedSearch } from '../../../machines/console/hunting/saved-search-standing.ts';
import type { RuntimeEvent } from '../../../machines/wire/event.ts';
import { createMemoryRelational } from '../../../storage/memory/memory-relational.ts';
import { createMemoryEvents } from '../../../storage/memory/telemetry/memory-events.ts';

const WINDOW_SECS = 60;
const THRESHOLD = 5;
const STEP_MS = 10_000;
/** The horizon, behind the clock. */
const BEHIND_MS = 10_000;
const BEGIN_MS = 1_800_000_000_000;
const SEARCH_ID = '00000000-0000-7000-8000-000000000001';
const signal = new AbortController().signal;

/** What happens in one step: how many new events, how many of the last ones again, where the Console dies. */
type Step = {
  readonly fresh: number;
  readonly again: number;
  readonly dies: 'never' | 'change' | 'changed' | 'raise' | 'raised' | 'received';
};
const step: fc.Arbitrary<Step> = fc.record({
  fresh: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 7 })),
  again: fc.integer({ min: 0, max: 3 }),
  dies: fc.oneof(
    { weight: 3, arbitrary: fc.constant('never' as const) },
    fc.constantFrom('change', 'changed', 'raise', 'raised', 'received'),
  ),
});

describe('a saved search over crashes', () => {
  it('always tells of each crossing once, with an id of its own, and of nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        const world = await begin();
        for (const one of steps) await world.live(one);
        // Nothing dies any more, and what was received is read.
        for (let left = 0; left < 8; left += 1) {
          await world.live({ fresh: 0, again: 0, dies: 'never' });
        }
        const told = new Set(world.raised.map(({ matches }) => matches[0]?.matchId));
        expect(told.size).toBe(world.crossings());
        for (const { alert } of world.raised) {
          expect(alert.search?.matchCount).toBeGreaterThanOrEqual(THRESHOLD);
          expect(alert.search?.eventSearchUrl).toContain('/events?');
        }
      }),
      { numRuns: 60 },
    );
  });
});

async function begin() {
  const memory = createMemoryRelational();
  const store = createMemoryEvents(1);
  const raised: Finding[] = [];
  const received: { readonly atMs: number; readonly id: string }[] = [];
  const made: RuntimeEvent[] = [];
  let [nowMs, sequence, ids] = [BEGIN_MS, 0, 0];
  let dies: Step['dies'] = 'never';
  const die = (at: Step['dies']): void => {
    if (dies !== at) return;
    dies = 'never';
    throw new Error(`the Console died at ${at}`);
  };
  await memory.savedSearches.add({
    ...{ id: SEARCH_ID, max: 1, nowMs },
    body: {
      ...{ name: 'often', filter: { text: 'meant' }, createdBy: 'user:a', version: 1 },
      watch: { threshold: THRESHOLD, windowSecs: WINDOW_SECS, severity: 'high' },
      standing: { ...newSavedSearch, readToMs: BEGIN_MS - BEHIND_MS },
    },
  });
  const deps: Parameters<typeof createSavedSearchLoop>[0] = {
    searches: {
      list: memory.savedSearches.list,
      async change({ epoch: _epoch, ...input }) {
        die('change');
        const changed = await memory.savedSearches.change(input);
        die('changed');
        return changed;
      },
    },
    events: {
      async received(query) {
        die('received');
        return store.events.received(query);
      },
    },
    async raise(findings) {
      die('raise');
      raised.push(...findings);
      die('raised');
    },
    pass: async () => undefined,
    horizon: async ({ nowMs }) => nowMs - BEHIND_MS,
    chance: { newId: () => `id-${++ids}` },
    baseUrl: () => 'https://console.example',
    now: () => nowMs,
    logger: silentLogger,
  };
  let loop = createSavedSearchLoop(deps);

  async function receive(events: readonly RuntimeEvent[]): Promise<void> {
    if (events.length === 0) return;
    sequence += 1;
    await store.sink.append({
      ...{ sensorId: 's', nodeName: 'n', streamId: 't', channel: 'stream', sequence },
      ...{ digest: String(sequence), receivedAtMs: nowMs, events },
    });
    for (const { event_id: id } of events) received.push({ atMs: nowMs, id });
  }

  return {
    raised,
    async live(of: Step): Promise<void> {
      nowMs += STEP_MS;
      const fresh = Array.from({ length: of.fresh }, () => eventOf(++ids));
      await receive(made.slice(-of.again).slice(0, of.again));
      await receive(fresh);
      made.push(...fresh);
      dies = of.dies;
      for (let runs = 0; runs < 4; runs += 1) {
        const ran = await loop.run({ epoch: 1, signal }).catch(() => {
          // What it remembered died with it.
          loop = createSavedSearchLoop(deps);
          return undefined;
        });
        if (ran?.hasMore !== true) break;
      }
      dies = 'never';
    },
    /** Crossings of somebody who has every event at once, and judges second by second. */
    crossings(): number {
      const times: number[] = [];
      const last = new Map<string, number>();
      for (const { atMs, id } of received) {
        // Received again while it is in the window, it counts once.
        if ((last.get(id) ?? Number.NEGATIVE_INFINITY) >= atMs - WINDOW_SECS * 1_000) continue;
        last.set(id, atMs);
        times.push(atMs);
      }
      let [count, isAbove] = [0, false];
      for (let atMs = BEGIN_MS; atMs <= nowMs; atMs += 1_000) {
        const inWindow = times.filter(
          (one) => one < atMs && one >= atMs - WINDOW_SECS * 1_000,
        ).length;
        if (!isAbove && inWindow >= THRESHOLD) {
          count += 1;
          isAbove = true;
        } else if (isAbove && inWindow <= Math.floor(THRESHOLD * 0.8)) isAbove = false;
      }
      return count;
    },
  };
}

function eventOf(number: number): RuntimeEvent {
  return {
    event_id: number.toString(16).padStart(32, '0'),
    ...{ schema_version: 1, observed_at: '2026-01-01T00:00:00.000Z', event_kind: 'process_exec' },
    ...{ severity: 'info', message: 'meant' },
  };
}
