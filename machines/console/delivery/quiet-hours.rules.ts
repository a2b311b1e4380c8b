// Hours in which a destination is told only of what is severe enough: everything else waits for their end. They are told in
// the local time of a zone, so they move with its summer time. decision: D151
import { MINUTE_MS } from '../../units.ts';
import { type Alert, type AlertSeverity, isAtLeast } from './alert.ts';

export type QuietHours = {
  /** A name of the IANA database. */
  readonly timeZone: string;
  /** Local time, HH:MM; hours that end before they begin go past midnight. */
  readonly from: string;
  readonly to: string;
  /** The days on which they begin, 0 is Sunday; empty: every day. */
  readonly days: readonly number[];
  /** What is at least so severe is told at once. */
  readonly passes: AlertSeverity;
};

const DAY_MINUTES = 1_440;
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** When an alert may be told that comes now: now, or when the quiet hours are over. */
export function toldFromMs(
  hours: QuietHours | null,
  { severity }: Pick<Alert, 'severity'>,
  nowMs: number,
): number {
  if (hours === null || isAtLeast(severity, hours.passes)) return nowMs;
  return quietUntilMs(hours, nowMs) ?? nowMs;
}

/** When the quiet hours end that are now; null when there are none now. */
export function quietUntilMs(hours: QuietHours, nowMs: number): number | null {
  const [from, to] = [minutesOf(hours.from), minutesOf(hours.to)];
  const { minutes, day } = localOf(hours.timeZone, nowMs);
  const isOvernight = from > to;
  const isAfterMidnight = isOvernight && minutes < to;
  const isInside = isOvernight
    ? minutes >= from || isAfterMidnight
    : minutes >= from && minutes < to;
  const begunOn = isAfterMidnight ? (day + 6) % 7 : day;
  if (!isInside || (hours.days.length > 0 && !hours.days.includes(begunOn))) return null;
  const minuteMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  const plain = minuteMs + ((to - minutes + DAY_MINUTES) % DAY_MINUTES) * MINUTE_MS;
  // Where the clocks change in between, the end is an hour off.
  const off = to - localOf(hours.timeZone, plain).minutes;
  const nearest =
    off > DAY_MINUTES / 2 ? off - DAY_MINUTES : off < -DAY_MINUTES / 2 ? off + DAY_MINUTES : off;
  return Math.max(nowMs + 1, plain + nearest * MINUTE_MS);
}

/** What is wrong with them; null when nothing is. */
export function mistakeOfQuietHours(hours: QuietHours): string | null {
  if (!TIME.test(hours.from) || !TIME.test(hours.to)) return 'times are HH:MM, 00:00 to 23:59';
  if (hours.from === hours.to) return 'they must not end when they begin';
  if (!isTimeZone(hours.timeZone)) return `${hours.timeZone} is no time zone`;
  return null;
}

/** Whether a text names a zone. */
export function isTimeZone(text: string): boolean {
  try {
    formatOf(text);
    return true;
  } catch {
    return false;
  }
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const fields = { hour: '2-digit', minute: '2-digit', weekday: 'short' } as const;
  return new Intl.DateTimeFormat('en-GB', { timeZone, hourCycle: 'h23', ...fields });
}

function localOf(
  timeZone: string,
  atMs: number,
): { readonly minutes: number; readonly day: number } {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(new Date(atMs))
      .map(({ type, value }) => [type, value]),
  );
  const minutes = Number(parts.get('hour')) * 60 + Number(parts.get('minute'));
  return { minutes, day: WEEKDAYS.indexOf(parts.get('weekday') ?? '') };
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}
