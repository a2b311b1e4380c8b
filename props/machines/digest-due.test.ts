// Every day that a zone has is told once, in its order, at its local time or at the first instant behind; what digests tell of
// follows each other without gap. A scheduler that others wrote says the same. decision: D166
import { Cron } from 'croner';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type DigestTime,
  digestDue,
  dueMsOf,
  localDayOf,
  slotAt,
} from '../../machines/console/digest/digest-due.rules.ts';
import { DIGEST_MISSED_MAX } from '../../machines/limits.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../machines/units.ts';
import { runs } from '../runs.ts';

// Half and quarter hours, no summer time, summer time in the south, by half an hour, at midnight, and a day left out.
const ZONES = [
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe'],
  ...[
    'America/Sao_Paulo',
    'Africa/Cairo',
    'America/St_Johns',
    'Pacific/Apia',
    'Pacific/Kiritimati',
  ],
  ...['Asia/Beirut', 'America/Havana', 'Atlantic/Azores', 'Africa/Casablanca', 'Pacific/Honolulu'],
];
const two = (value: number): string => String(value).padStart(2, '0');
const time: fc.Arbitrary<DigestTime> = fc
  .record({
    timeZone: fc.constantFrom(...ZONES),
    hour: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 23 })),
    minute: fc.constantFrom(0, 1, 15, 30, 59),
  })
  .map(({ timeZone, hour, minute }) => ({ timeZone, at: `${two(hour)}:${two(minute)}` }));
const instant = fc
  .integer({ min: Date.UTC(2008, 0, 1) / MINUTE_MS, max: Date.UTC(2037, 0, 1) / MINUTE_MS })
  .map((minutes) => minutes * MINUTE_MS);

const inZone = new Map(
  ZONES.map((timeZone) => [
    timeZone,
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }),
  ]),
);
function localText(timeZone: string, ms: number): string {
  const format = inZone.get(timeZone);
  if (format === undefined) throw new Error(`${timeZone} is not one of them`);
  return format.format(ms);
}

describe('when a digest is due', () => {
  it.each([
    // Forward over it: the first instant behind.
    [{ timeZone: 'Europe/Berlin', at: '02:30' }, '2026-03-29', '2026-03-29T01:00:00Z'],
    // Back over it: the first of the two.
    [{ timeZone: 'Europe/Berlin', at: '02:30' }, '2026-10-25', '2026-10-25T00:30:00Z'],
    [{ timeZone: 'Europe/Berlin', at: '02:59' }, '2026-10-25', '2026-10-25T00:59:00Z'],
    [{ timeZone: 'America/New_York', at: '08:00' }, '2026-03-08', '2026-03-08T12:00:00Z'],
    // A day that begins at one.
    [{ timeZone: 'America/Sao_Paulo', at: '00:00' }, '2018-11-04', '2018-11-04T03:00:00Z'],
    [{ timeZone: 'Australia/Lord_Howe', at: '02:15' }, '2026-10-04', '2026-10-03T15:30:00Z'],
    [{ timeZone: 'Asia/Kathmandu', at: '08:00' }, '2026-01-01', '2026-01-01T02:15:00Z'],
  ] as const)('should be %j of %s at %s', (at, day, expected) => {
    expect(new Date(dueMsOf(at, day)).toISOString()).toBe(expected.replace('Z', '.000Z'));
  });

  it('should leave out a day that the zone left out', () => {
    const apia = { timeZone: 'Pacific/Apia', at: '09:00' };
    const slot = slotAt(apia, Date.parse('2011-12-31T12:00:00Z'));
    expect(slot.day).toBe('2011-12-31');
    expect(slot.fromMs).toBe(dueMsOf(apia, '2011-12-29'));
  });

  it('always is the time of the day, or the first instant behind where clocks skip it', () => {
    fc.assert(
      fc.property(time, instant, (at, nowMs) => {
        const day = localDayOf(at.timeZone, nowMs);
        const dueMs = dueMsOf(at, day);
        const wanted = `${day} ${at.at}`;
        const [own, before] = [dueMs, dueMs - MINUTE_MS].map((ms) => localText(at.timeZone, ms));
        if (own !== wanted) expect((own ?? '') > wanted).toBe(true);
        expect((before ?? '') < wanted).toBe(true);
      }),
    );
  });

  it('always is what another scheduler says where the clocks do not change', () => {
    fc.assert(
      fc.property(time, instant, (at, nowMs) => {
        const day = localDayOf(at.timeZone, nowMs);
        const dueMs = dueMsOf(at, day);
        const offsets = new Set<number>();
        for (let ms = dueMs - 30 * HOUR_MS; ms <= dueMs + 30 * HOUR_MS; ms += HOUR_MS) {
          offsets.add(Date.parse(`${localText(at.timeZone, ms).replace(' ', 'T')}Z`) - ms);
        }
        fc.pre(offsets.size === 1);
        const [hour, minute] = at.at.split(':').map(Number);
        const cron = new Cron(`0 ${minute} ${hour} * * *`, { timezone: at.timeZone });
        expect(cron.nextRun(new Date(dueMs - MINUTE_MS))?.getTime()).toBe(dueMs);
        expect(cron.nextRun(new Date(dueMs))?.getTime()).toBeGreaterThan(dueMs);
      }),
    );
  });

  it('always is the newest one that has come, and tells of all since the one before', () => {
    fc.assert(
      fc.property(time, instant, (at, nowMs) => {
        const slot = slotAt(at, nowMs);
        expect(slot.dueMs).toBeLessThanOrEqual(nowMs);
        expect(nowMs - slot.dueMs).toBeLessThan(2 * DAY_MS);
        const before = slotAt(at, slot.dueMs - 1);
        expect(before.dueMs).toBe(slot.fromMs);
        expect(before.day < slot.day).toBe(true);
      }),
    );
  });

  it('always tells each day once however often it is looked, and says which were missed', () => {
    const steps = fc.array(fc.integer({ min: 1, max: 60 * 60 }), { minLength: 10, maxLength: 40 });
    fc.assert(
      fc.property(time, instant, steps, (at, sinceMs, minutes) => {
        const told: string[] = [];
        let nowMs = sinceMs;
        for (const step of minutes) {
          const due = digestDue({ time: at, sinceMs, lastDay: told.at(-1) ?? null, nowMs });
          if (due !== null) {
            expect(due.slot.dueMs).toBeGreaterThanOrEqual(sinceMs);
            told.push(...due.missed, due.slot.day);
            const again = { time: at, sinceMs, lastDay: due.slot.day, nowMs };
            expect(digestDue(again)).toBeNull();
          }
          nowMs += step * MINUTE_MS;
        }
        expect([...new Set(told)].sort()).toEqual(told);
        // Between two that were told or missed there is no day of the zone.
        for (const [index, day] of told.entries()) {
          const next = told[index + 1];
          if (next !== undefined) expect(slotAt(at, dueMsOf(at, next) - 1).day).toBe(day);
        }
      }),
      { numRuns: runs(40) },
    );
  });

  it('never asks for what was due before it was set up, and never tells a day again after a change', () => {
    fc.assert(
      fc.property(time, time, instant, (at, other, nowMs) => {
        expect(digestDue({ time: at, sinceMs: nowMs, lastDay: null, nowMs: nowMs - 1 })).toBeNull();
        const { day } = slotAt(at, nowMs);
        const due = digestDue({ time: other, sinceMs: 0, lastDay: day, nowMs });
        expect(due === null || due.slot.day > day).toBe(true);
        const long = digestDue({ time: at, sinceMs: 0, lastDay: null, nowMs });
        expect(long?.missed).toHaveLength(DIGEST_MISSED_MAX);
      }),
      { numRuns: runs(40) },
    );
  });
});
