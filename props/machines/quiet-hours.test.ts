// Quiet hours delay and never lose: what is told later is told at their end, and what is severe enough at once. The end is
// right where clocks change in between. decision: D151
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ALERT_SEVERITIES, isAtLeast } from '../../machines/console/delivery/alert.ts';
import {
  mistakeOfQuietHours,
  type QuietHours,
  quietUntilMs,
  toldFromMs,
} from '../../machines/console/delivery/quiet-hours.rules.ts';
import { DAY_MS, HOUR_MS } from '../../machines/units.ts';

const NIGHT: QuietHours = {
  ...{ timeZone: 'Europe/Berlin', from: '22:00', to: '07:00', days: [], passes: 'critical' },
};
const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map((parts) => parts.map((one) => String(one).padStart(2, '0')).join(':'));
const hours: fc.Arbitrary<QuietHours> = fc
  .record({
    timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'),
    from: time,
    to: time,
    days: fc.subarray([0, 1, 2, 3, 4, 5, 6]),
    passes: fc.constantFrom(...ALERT_SEVERITIES),
  })
  .filter((one) => mistakeOfQuietHours(one) === null);
const instant = fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2028, 0) });
const severity = fc.constantFrom(...ALERT_SEVERITIES);

describe('quiet hours', () => {
  it('always end after now and within a day and the change of a clock', () => {
    fc.assert(
      fc.property(hours, instant, (of, nowMs) => {
        const untilMs = quietUntilMs(of, nowMs);
        if (untilMs === null) return;
        expect(untilMs).toBeGreaterThan(nowMs);
        expect(untilMs).toBeLessThanOrEqual(nowMs + DAY_MS + HOUR_MS);
      }),
    );
  });

  it('never delay what is severe enough, and everything else to their end alone', () => {
    fc.assert(
      fc.property(hours, severity, instant, (of, how, nowMs) => {
        const atMs = toldFromMs(of, { severity: how }, nowMs);
        if (isAtLeast(how, of.passes)) expect(atMs).toBe(nowMs);
        else expect(atMs).toBe(quietUntilMs(of, nowMs) ?? nowMs);
        expect(toldFromMs(null, { severity: how }, nowMs)).toBe(nowMs);
      }),
    );
  });

  it.each([
    ['2026-11-25T21:30:00Z', '2026-11-26T06:00:00Z'],
    ['2026-11-26T05:59:59Z', '2026-11-26T06:00:00Z'],
    // The night in which summer time begins has an hour less, the one in which it ends has one more.
    ['2026-03-28T22:00:00Z', '2026-03-29T05:00:00Z'],
    ['2026-10-24T21:00:00Z', '2026-10-25T06:00:00Z'],
  ])('should end in the morning of the zone: %s', (now, end) => {
    expect(quietUntilMs(NIGHT, Date.parse(now))).toBe(Date.parse(end));
  });

  it('should not be outside their hours', () => {
    for (const now of ['2026-11-26T06:00:00Z', '2026-11-25T20:59:59Z', '2026-11-25T12:00:00Z']) {
      expect(quietUntilMs(NIGHT, Date.parse(now))).toBeNull();
    }
  });

  it('should belong to the day on which they began', () => {
    // The night from Friday to Saturday.
    const friday = { ...NIGHT, days: [5] };
    expect(quietUntilMs(friday, Date.parse('2026-11-28T03:00:00Z'))).not.toBeNull();
    expect(quietUntilMs(friday, Date.parse('2026-11-28T22:30:00Z'))).toBeNull();
  });

  it('should be refused with times that are none, without length, and in no zone', () => {
    for (const more of [{ from: '24:00' }, { to: '7:00' }, { from: '07:00' }, { timeZone: 'Mars' }])
      expect(mistakeOfQuietHours({ ...NIGHT, ...more })).not.toBeNull();
    expect(mistakeOfQuietHours(NIGHT)).toBeNull();
  });
});
