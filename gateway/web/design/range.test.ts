import { describe, expect, it } from 'vitest';
import { instantOf, rangeOf, shifted, spanOf, widened } from './range.ts';

const NOW_MS = Date.parse('2026-03-01T12:00:00.000Z');

describe('a range of time', () => {
  it('should be read as the Console reads it', () => {
    expect(instantOf('now-15m', NOW_MS)).toBe(NOW_MS - 900_000);
    expect(instantOf('now', NOW_MS)).toBe(NOW_MS);
    expect(instantOf('2026-03-01T13:00:00+01:00', NOW_MS)).toBe(NOW_MS);
    for (const text of ['yesterday', 'now-1y', '2026-03-01', '']) {
      expect([text, instantOf(text, NOW_MS)]).toEqual([text, null]);
    }
    expect(spanOf({ from: 'now', to: 'now-1h' }, 'now-1h', NOW_MS)).toBeNull();
  });

  it('should be moved by half and widened around its middle, never past now', () => {
    const hour = spanOf({}, 'now-1h', NOW_MS) ?? { fromMs: 0, toMs: 0 };
    expect(rangeOf(shifted(hour, -1)).from).toBe('2026-03-01T10:30:00.000Z');
    expect(rangeOf(widened(hour, NOW_MS))).toEqual({
      ...{ from: '2026-03-01T10:30:00.000Z', to: '2026-03-01T12:00:00.000Z' },
    });
    const past = shifted(shifted(hour, -1), -1);
    expect(rangeOf(widened(past, NOW_MS)).to).toBe('2026-03-01T11:30:00.000Z');
  });
});
