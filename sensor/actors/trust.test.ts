import { describe, expect, it } from 'vitest';
import { DEFAULT_INTERVALS } from '../../machines/intervals.ts';
import { emptyFacts } from './facts.ts';
import { createTrustKeeper } from './trust.ts';

const NOON_MS = Date.parse('2026-01-01T12:00:00.000Z');
const HOUR_MS = 3_600_000;

describe('trust keeper', () => {
  it('should bring a trouble back to now when the clock was ahead', () => {
    const facts = emptyFacts();
    const saved: unknown[] = [];
    let nowMs = NOON_MS + HOUR_MS;
    const keeper = createTrustKeeper({
      config: { intervals: DEFAULT_INTERVALS } as Parameters<typeof createTrustKeeper>[0]['config'],
      now: () => nowMs,
      facts,
      directory: { saveState: async (patch) => saved.push(patch) > 0 },
      onChange: () => undefined,
    });
    keeper.noteTrouble('connection_lost');
    keeper.refresh();
    expect(facts.trust.last_connection_error_at).toBe('2026-01-01T13:00:00.000Z');
    nowMs = NOON_MS;
    keeper.refresh();
    expect(facts.trust.last_connection_error_at).toBe('2026-01-01T12:00:00.000Z');
    expect(saved.at(-1)).toEqual({ last_connection_error_at: '2026-01-01T12:00:00.000Z' });
    nowMs += HOUR_MS;
    keeper.refresh();
    expect(facts.trust.last_connection_error_at).toBe('2026-01-01T12:00:00.000Z');
  });
});
