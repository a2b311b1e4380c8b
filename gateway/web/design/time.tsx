// Time: relative while it is young, absolute with its zone on hover. One clock for the whole page, so that a list of a
// thousand rows has one timer.
import { createStore, useSelector } from '@xstate/store-react';
import { useEffect } from 'react';
import { span } from '../../../machines/span.ts';
import { DESIGN_TEXTS } from './texts.ts';

const TICK_MS = 1_000;
const JUST_NOW_MS = 5_000;
const DAY_MS = 86_400_000;
const ABSOLUTE = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'medium',
});
// In lists the year is what everybody knows; it stands in the title.
const LISTED = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'short' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
});
export const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

const clock = createStore({
  context: { nowMs: Date.now() },
  on: { ticked: (_context, event: { nowMs: number }) => ({ nowMs: event.nowMs }) },
});
const tick = (): void => clock.trigger.ticked({ nowMs: Date.now() });
const readers = { count: 0, timer: 0 };

/** The clock goes while somebody reads it. */
function readClock(): () => void {
  readers.count += 1;
  if (readers.count === 1) {
    tick();
    readers.timer = window.setInterval(() => void (document.hidden || tick()), TICK_MS);
  }
  return () => {
    readers.count -= 1;
    if (readers.count === 0) window.clearInterval(readers.timer);
  };
}

/** Now, and again every second. */
export function useNow(): number {
  useEffect(readClock, []);
  return useSelector(clock, ({ context }) => context.nowMs);
}

export const absolute = (at: string | number): string => `${ABSOLUTE.format(new Date(at))} ${ZONE}`;

/** An instant as lists show it, without its year. */
export const listed = (at: string): string => LISTED.format(new Date(at));

/** `2 min ago`, `in 3 h`, or the date once it is older than a day. */
export function relative(atMs: number, nowMs: number): string {
  const awayMs = nowMs - atMs;
  if (Math.abs(awayMs) < JUST_NOW_MS) return DESIGN_TEXTS.now;
  if (awayMs >= DAY_MS) return ABSOLUTE.format(atMs);
  const coarse = span(Math.abs(awayMs)).split(' ').slice(0, 2).join(' ');
  return awayMs > 0 ? `${coarse} ago` : `in ${span(-awayMs)}`;
}

/** An instant as people read it. */
export function Ago({ at }: { readonly at: string | number | null | undefined }) {
  const nowMs = useNow();
  if (at === null || at === undefined)
    return <span className="fs-quiet">{DESIGN_TEXTS.never}</span>;
  const atMs = new Date(at).getTime();
  return (
    <time dateTime={new Date(at).toISOString()} title={absolute(at)} className="fs-num">
      {relative(atMs, nowMs)}
    </time>
  );
}

/** An instant by the clock, for lists in order of time. */
export function At({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={absolute(at)} className="fs-num">
      {listed(at)}
    </time>
  );
}

/** What is left until an instant; never below zero. */
export function Countdown({ untilMs }: { readonly untilMs: number }) {
  return <span className="fs-num">{span(untilMs - useNow())}</span>;
}
