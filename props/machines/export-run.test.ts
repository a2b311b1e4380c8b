// A day of an export ends with files only when every part was read back and the day was counted the same twice; a crash at
// any point leaves it due again, with what was copied kept. decision: D157
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ExportRunEvent,
  exportRunMachine,
} from '../../machines/console/exports/export-run.machine.ts';
import {
  closedDays,
  dayOf,
  exportDelayMs,
  exportIdOf,
  isDayClosed,
  isExportDay,
  objectNameOf,
  partsFor,
  startOfDayMs,
  tableDayOf,
} from '../../machines/console/exports/export-run.rules.ts';
import {
  type ExportStanding,
  exportRunAfter,
  isActive,
  newExportRun,
} from '../../machines/console/exports/standing.ts';
import {
  type ExportTarget,
  mistakesOfTarget,
  type S3Place,
} from '../../machines/console/exports/target.rules.ts';
import {
  EXPORT_BACKOFF_MAX_MS,
  EXPORT_GIVE_UP_MS,
  EXPORT_GRACE_MS,
  EXPORT_PART_ROWS_MAX,
  EXPORT_PARTS_MAX,
} from '../../machines/limits.ts';
import { DAY_MS } from '../../machines/units.ts';
import { describeMachineLaws } from './laws.ts';

const atMs = fc.integer({ min: 0, max: 2 * EXPORT_GIVE_UP_MS });
const chance = fc.double({ min: 0, max: 1, noNaN: true });
const reason = fc.constantFrom('away', 'refused');
const rows = fc.constantFrom(0, 1, EXPORT_PART_ROWS_MAX, EXPORT_PART_ROWS_MAX * 3);
const tally = rows.map((count) => ({ rows: count, distinct: count, hashSum: String(count) }));
const event: fc.Arbitrary<ExportRunEvent> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('run.claimed' as const), atMs }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('day.counted' as const), atMs, tally }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('part.copied' as const), atMs }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('run.sealed' as const), atMs }) },
  fc.record({ type: fc.constant('totals.differ' as const), atMs, reason, chance }),
  fc.record({ type: fc.constant('step.failed' as const), atMs, reason, chance }),
  fc.record({ type: fc.constant('run.lost' as const), atMs }),
  fc.record({ type: fc.constant('run.ordered' as const), atMs }),
);

describeMachineLaws({
  name: 'export run',
  machine: exportRunMachine,
  input: fc.record({ nowMs: fc.constant(0) }),
  events: event,
});

function walked(events: readonly ExportRunEvent[]): readonly ExportStanding[] {
  const steps = [newExportRun(0)];
  for (const one of events) {
    const last = steps.at(-1);
    if (last !== undefined) steps.push(exportRunAfter(last, one));
  }
  return steps;
}

describe('an export run', () => {
  it('always is done with every part copied, or with none to copy', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        for (const { state, parts, copied, tally: seen } of walked(events)) {
          if (state !== 'done') continue;
          expect(seen).not.toBeNull();
          expect(copied).toBe(parts);
          expect(parts).toBe(partsFor(seen?.rows ?? -1));
        }
      }),
    );
  });

  it('never copies before it counted, never seals before it copied all', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        for (const { state, parts, copied } of walked(events)) {
          if (state === 'copying') expect(copied).toBeLessThan(parts ?? 0);
          if (state === 'sealing') expect(copied).toBe(parts);
          if (state === 'counting') expect(parts).toBeNull();
        }
      }),
    );
  });

  it('never forgets a copied part but for a new count, and never a part that may lie there', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const steps = walked(events);
        for (const [at, one] of events.entries()) {
          const [before, after] = [steps[at], steps[at + 1]];
          if (before === undefined || after === undefined) continue;
          const isReset = ['totals.differ', 'run.ordered', 'day.counted'].includes(one.type);
          if (!isReset) expect(after.copied).toBeGreaterThanOrEqual(before.copied);
          if (one.type !== 'run.sealed') {
            expect(after.highestPart).toBeGreaterThanOrEqual(before.highestPart);
          }
          expect(after.highestPart).toBeGreaterThanOrEqual(after.copied);
        }
      }),
    );
  });

  it('always waits again after a crash or a failure, and ends dead after a week of them only', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const steps = walked(events);
        for (const [at, one] of events.entries()) {
          const [before, after] = [steps[at], steps[at + 1]];
          if (before === undefined || after === undefined || !isActive(before)) continue;
          if (one.type === 'run.lost') expect(after.state).toBe('waiting');
          if (one.type === 'step.failed') {
            expect(after.state).toBe(one.atMs >= before.giveUpAtMs ? 'dead' : 'waiting');
          }
        }
        for (const { state, endedAtMs } of steps) {
          expect(endedAtMs !== null).toBe(state === 'done' || state === 'dead');
        }
      }),
    );
  });

  it('always waits longer after each failure, up to an hour', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), chance, (failures, one) => {
        const delay = exportDelayMs(failures, one);
        expect(delay).toBeGreaterThan(0);
        expect(delay).toBeLessThanOrEqual(EXPORT_BACKOFF_MAX_MS);
        expect(exportDelayMs(failures + 1, one)).toBeGreaterThanOrEqual(delay);
      }),
    );
  });
});

describe('a day of an export', () => {
  it('always is closed an hour after its end, and never before', () => {
    const day = '2026-03-29';
    const endMs = startOfDayMs(day) + DAY_MS;
    expect(isDayClosed(day, endMs + EXPORT_GRACE_MS)).toBe(true);
    expect(isDayClosed(day, endMs + EXPORT_GRACE_MS - 1)).toBe(false);
    expect(closedDays('2026-03-27', endMs + EXPORT_GRACE_MS, 9)).toEqual([
      ...['2026-03-29', '2026-03-28', '2026-03-27'],
    ]);
    expect(closedDays('2026-03-27', endMs + EXPORT_GRACE_MS - 1, 9)).toEqual([
      ...['2026-03-28', '2026-03-27'],
    ]);
    expect(closedDays('2026-03-27', endMs + EXPORT_GRACE_MS, 1)).toEqual(['2026-03-29']);
    expect(closedDays('2027-01-01', endMs, 9)).toEqual([]);
  });

  it('always holds each instant once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_000_000_000_000 }), (ms) => {
        const day = dayOf(ms);
        expect(isExportDay(day)).toBe(true);
        expect(startOfDayMs(day)).toBeLessThanOrEqual(ms);
        expect(startOfDayMs(day) + DAY_MS).toBeGreaterThan(ms);
      }),
    );
    for (const text of ['2026-02-30', '2026-1-1', '', '2026-01-01T00:00:00Z', '../../x']) {
      expect(isExportDay(text)).toBe(false);
    }
  });

  it('always has one name for each part, and none that leaves its folder', () => {
    const of = { table: 'runtime_events', day: '2026-11-24' } as const;
    expect(objectNameOf(of, 1)).toBe('runtime_events/date=2026-11-24/part-00001.parquet');
    expect(tableDayOf(exportIdOf(of))).toEqual(of);
    for (const text of ['runtime_events', 'x.2026-11-24', 'runtime_events.2026-11-24.x', '..']) {
      expect(tableDayOf(text)).toBeNull();
    }
  });

  it('always is written in as many parts as its rows need, and in no more than may be', () => {
    expect(partsFor(0)).toBe(0);
    expect(partsFor(EXPORT_PART_ROWS_MAX)).toBe(1);
    expect(partsFor(EXPORT_PART_ROWS_MAX + 1)).toBe(2);
    expect(partsFor(Number.MAX_SAFE_INTEGER)).toBe(EXPORT_PARTS_MAX);
  });
});

describe('a target of exports', () => {
  const place: S3Place = {
    ...{ kind: 's3', endpoint: 'https://s3.example.net', region: 'eu-1', bucket: 'fleet' },
    ...{ accessKeyId: 'AKIA', caPem: null },
  };
  const target: ExportTarget = {
    ...{ place, prefix: 'a/b', tables: ['runtime_events'], fromDay: '2026-01-01', isOn: true },
  };
  const pointers = (one: ExportTarget) => mistakesOfTarget(one).map(({ pointer }) => pointer);

  it('never holds more than a service, a bucket and a prefix', () => {
    expect(pointers(target)).toEqual([]);
    expect(pointers({ ...target, place: { kind: 'directory' }, prefix: '' })).toEqual([]);
    for (const endpoint of [
      ...['http://s3.example.net', 'https://u:p@s3.example.net', 'https://s3.example.net/path'],
      ...['https://s3.example.net/?x', 'ftp://x', 'file:///etc/passwd', 's3.example.net', ''],
    ]) {
      expect(pointers({ ...target, place: { ...place, endpoint } })).toEqual(['/s3/endpoint']);
    }
    for (const bucket of ['', 'a', 'A', 'a/b', '../x', 'a..b', 'a?b', '-ab']) {
      expect(pointers({ ...target, place: { ...place, bucket } })).toEqual(['/s3/bucket']);
    }
  });

  it('never leaves its folder by its prefix', () => {
    for (const prefix of [
      '..',
      '../x',
      'a/../b',
      '/a',
      'a/',
      'a//b',
      'a/./b',
      'a b',
      'a\\b',
      '.',
    ]) {
      expect(pointers({ ...target, prefix })).toEqual(['/prefix']);
    }
  });
});
