import { describe, expect, it } from 'vitest';
import { barsOf, totalsOf } from './rate-bars.ts';

const rate = {
  ...{ from: '2026-03-01T12:00:00.000Z', to: '2026-03-01T12:03:30.000Z', step_seconds: 60 },
  items: [
    { at: '2026-03-01T12:00:00.000Z', severity: 'low', events: 3 },
    { at: '2026-03-01T12:02:00.000Z', severity: 'info', events: 5 },
    { at: '2026-03-01T12:02:00.000Z', severity: 'critical', events: 1 },
    { at: '2026-03-01T12:09:00.000Z', severity: 'low', events: 9 },
  ],
} as const;

describe('the rate of events', () => {
  it('should have a bar for every step, empty ones too, the weightiest at the foot', () => {
    const bars = barsOf({ ...rate, items: [...rate.items] });
    expect(bars.map(({ total }) => total)).toEqual([3, 0, 6, 0]);
    expect(bars[2]?.parts.map(({ severity }) => severity)).toEqual(['critical', 'info']);
    expect(bars[3]?.at).toBe('2026-03-01T12:03:00.000Z');
  });

  it('should be summed for each severity, none left out', () => {
    const totals = totalsOf({ items: [...rate.items] });
    expect(totals[0]).toEqual({ severity: 'critical', events: 1 });
    expect(totals.find(({ severity }) => severity === 'medium')?.events).toBe(0);
  });
});
