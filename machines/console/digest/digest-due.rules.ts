// When a digest is due: at a local time of each day that a zone has, once for each. Where clocks go forward over that time it
// is due at the first instant behind; where they go back over it, the first of the two counts. A day ends when the next one
// is due, so the stretches that digests tell of follow each other without gap, of 23 hours or 25 as the zone has it.
// decision: D166
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../units.ts';
import { DIGEST_MISSED_MAX } from './limits.ts';

export type DigestTime = {
  /** A name of the IANA database. */
  readonly timeZone: string;
  /** Local time, HH:MM. */
  readonly at: string;
};
/** A day of the calendar as `2026-11-26`, where the zone is. */
export type LocalDay = string;
/** One day's digest: when it is due, and what it tells of, `fromMs` to `dueMs`. */
export type DigestSlot = {
  readonly day: LocalDay;
  readonly fromMs: number;
  readonly dueMs: number;
};

const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
/** More than any zone is off from UTC. */
const OFF_MAX_MS = 26 * HOUR_MS;
/** Clocks do not change twice within that. */
const OFFSETS_READ_MS = 4 * HOUR_MS;
/** A zone may leave out a day; never two in a row. */
const LEFT_OUT_MAX = 2;

/** Whether a text is a time of day. */
export function isTimeOfDay(text: string): boolean {
  return TIME.test(text);
}

/** The day of an instant, where the zone is. */
export function localDayOf(timeZone: string, atMs: number): LocalDay {
  return dayText(clockOf(timeZone)(atMs));
}

/** The first instant that is not before the time of this day by the clock of the zone. */
export function dueMsOf({ timeZone, at }: DigestTime, day: LocalDay): number {
  const read = clockOf(timeZone);
  const wanted = Date.parse(`${day}T${at}:00Z`);
  let [low, high] = [wanted - OFF_MAX_MS, wanted + OFF_MAX_MS];
  const offsets = new Set<number>();
  for (let ms = low; ms <= high; ms += OFFSETS_READ_MS) offsets.add(read(ms) - ms);
  const exact = [...offsets].map((off) => wanted - off).filter((ms) => read(ms) === wanted);
  if (exact.length > 0) return Math.min(...exact);
  // The clocks skip it: there is one place where they pass it.
  while (high - low > MINUTE_MS) {
    const middle = low + Math.floor((high - low) / 2 / MINUTE_MS) * MINUTE_MS;
    if (read(middle) >= wanted) high = middle;
    else low = middle;
  }
  return high;
}

/** The newest digest that is due by now. */
export function slotAt(time: DigestTime, nowMs: number): DigestSlot {
  // Where clocks go back over midnight the next day has begun before, so it is asked first.
  let day = nextDay(localDayOf(time.timeZone, nowMs));
  while (!hasDay(time.timeZone, day) || dueMsOf(time, day) > nowMs) day = dayBefore(day);
  return slotOf(time, day);
}

/**
 * What is due now and was not told: the newest slot, and the days between it and the last one that has a row; they were
 * missed. Nothing that was due before `sinceMs`, when the digest was set up like this, is asked for.
 */
export function digestDue(of: {
  readonly time: DigestTime;
  readonly sinceMs: number;
  /** The newest day that has a row. */
  readonly lastDay: LocalDay | null;
  readonly nowMs: number;
}): { readonly slot: DigestSlot; readonly missed: readonly LocalDay[] } | null {
  const { time, sinceMs, lastDay, nowMs } = of;
  const slot = slotAt(time, nowMs);
  const isOpen = ({ day, dueMs }: DigestSlot): boolean =>
    dueMs >= sinceMs && (lastDay === null || day > lastDay);
  if (!isOpen(slot)) return null;
  const missed: LocalDay[] = [];
  let before = slotBefore(time, slot);
  while (isOpen(before) && missed.length < DIGEST_MISSED_MAX) {
    missed.unshift(before.day);
    before = slotBefore(time, before);
  }
  return { slot, missed };
}

function slotOf(time: DigestTime, day: LocalDay): DigestSlot {
  const dueMs = dueMsOf(time, day);
  return { day, dueMs, fromMs: dueMsOf(time, dayThatWasBefore(time, day)) };
}

function slotBefore(time: DigestTime, { day }: DigestSlot): DigestSlot {
  return slotOf(time, dayThatWasBefore(time, day));
}

function dayThatWasBefore({ timeZone }: DigestTime, day: LocalDay): LocalDay {
  let before = dayBefore(day);
  for (let left = LEFT_OUT_MAX; left > 0 && !hasDay(timeZone, before); left -= 1) {
    before = dayBefore(before);
  }
  return before;
}

/** Whether a zone has a day: some left one out when they moved over the date line. */
function hasDay(timeZone: string, day: LocalDay): boolean {
  return localDayOf(timeZone, dueMsOf({ timeZone, at: '00:00' }, day)) === day;
}

function dayBefore(day: LocalDay): LocalDay {
  return dayText(Date.parse(`${day}T00:00:00Z`) - DAY_MS);
}

function nextDay(day: LocalDay): LocalDay {
  return dayText(Date.parse(`${day}T00:00:00Z`) + DAY_MS);
}

function dayText(ms: number): LocalDay {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The zone that was read last: a format takes twenty times as long to make as to read by. */
let newest: { readonly timeZone: string; readonly format: Intl.DateTimeFormat } | null = null;
function formatOf(timeZone: string): Intl.DateTimeFormat {
  if (newest?.timeZone === timeZone) return newest.format;
  const numeric = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  const format = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone, hourCycle: 'h23', ...numeric, hour: '2-digit', minute: '2-digit' },
  });
  newest = { timeZone, format };
  return format;
}

/** Reads the clock of a zone: date and time to the minute, as if they were of UTC. */
function clockOf(timeZone: string): (ms: number) => number {
  const format = formatOf(timeZone);
  return (ms) => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const of = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
    return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'));
  };
}
