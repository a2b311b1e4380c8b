// The loss ledger: every event is settled once, as seen (the Console confirmed it) or as lost in one of six places, in
// the hour in which that was decided. So an hour is complete in itself: what was produced is what was seen plus what was
// lost, and the rest is still held. The ledger lives in the spool's journal, where a loss is written together with what
// lost it; a crash can neither forget one nor count it twice. decision: D48; invariant: I19
import { LOSS_HOURS_MAX } from '../limits.ts';
import { LOSS_PLACES, type LossPlace } from '../wire/loss.ts';

const HOUR_MS = 3_600_000;
const COUNTS = ['seen', ...LOSS_PLACES] as const;

/** How many events were lost where; what is absent is none. */
export type Losses = { readonly [Place in LossPlace]?: number };
export type Settled = Readonly<Record<(typeof COUNTS)[number], number>>;
/** `hour` counts hours since 1970, UTC, by the node's clock. */
export type SettledHour = Settled & { readonly hour: number };
export type LossLedger = {
  /** Everything ever settled, the hours that had to go included. */
  readonly total: Settled;
  /** The one that changed last stands last; a new hour lets another one go, whatever the clock says. */
  readonly hours: readonly SettledHour[];
  /** What the Console has confirmed of the hours that are kept; absent in journals of before it was written down. */
  readonly told?: readonly SettledHour[];
};

const NOTHING: Settled = {
  seen: 0,
  kernel_lost: 0,
  engine_lost: 0,
  reader_skipped: 0,
  pipeline_dropped: 0,
  spool_discarded: 0,
  console_refused: 0,
};
export const EMPTY_LOSS_LEDGER: LossLedger = { total: NOTHING, hours: [] };

/** The hour of an instant. */
export function hourOf(atMs: number): number {
  return Math.floor(atMs / HOUR_MS);
}

/** The beginning of an hour. */
export function startOfHourMs(hour: number): number {
  return hour * HOUR_MS;
}

/** Settles events in an hour. Counts only rise; nothing to settle leaves the ledger as it is. */
export function settle(ledger: LossLedger, hour: number, counts: Partial<Settled>): LossLedger {
  if (COUNTS.every((name) => positive(counts[name]) === 0)) return ledger;
  const { hours } = ledger;
  const at = hours.findIndex((one) => one.hour === hour);
  const others = at === -1 ? roomIn(ledger) : hours.toSpliced(at, 1);
  const changed = { hour, ...plus(hours[at] ?? NOTHING, counts) };
  const total = plus(ledger.total, counts);
  return keepTold(ledger.told ?? [], { total, hours: [...others, changed] });
}

/** Takes down what the Console has confirmed: hours as they were in a report. */
export function confirmTold(ledger: LossLedger, hours: readonly SettledHour[]): LossLedger {
  const names = new Set(hours.map(({ hour }) => hour));
  const others = (ledger.told ?? []).filter(({ hour }) => !names.has(hour));
  return keepTold([...others, ...hours], ledger);
}

function keepTold(told: readonly SettledHour[], { total, hours }: LossLedger): LossLedger {
  const kept = new Set(hours.map(({ hour }) => hour));
  return { total, hours, told: told.filter(({ hour }) => kept.has(hour)) };
}

// The hours that stay when a new one needs room. One that the Console has whole goes first. While it has none of them
// whole, as in an outage of days, what it does not have of the second hour is settled in the first: later than the
// outage began and earlier than it happened, but not forgotten. The first one stays, so that no count moves twice, and
// a row that may have been stored without its confirmation is told again under its own name.
function roomIn(ledger: LossLedger): readonly SettledHour[] {
  const { hours } = ledger;
  if (hours.length < LOSS_HOURS_MAX) return hours;
  const left = hours.map((one) => untoldOf(ledger, one));
  const at = left.findIndex((counts) => sumOf(counts) === 0);
  if (at !== -1) return hours.toSpliced(at, 1);
  const [first, , ...others] = hours;
  return first === undefined
    ? hours
    : [{ ...first, ...plus(first, left[1] ?? NOTHING) }, ...others];
}

function untoldOf({ told = [] }: LossLedger, one: SettledHour): Settled {
  const known = told.find(({ hour }) => hour === one.hour) ?? NOTHING;
  const left = { ...NOTHING };
  for (const name of COUNTS) left[name] = positive(one[name] - known[name]);
  return left;
}

function sumOf(counts: Settled): number {
  return counts.seen + lostOf(counts);
}

/** Settles losses of which nobody knows when they happened: in the hour that changed last. */
export function settleUndated(ledger: LossLedger, counts: Partial<Settled>): LossLedger {
  const last = ledger.hours.at(-1);
  if (last !== undefined) return settle(ledger, last.hour, counts);
  return { ...ledger, total: plus(ledger.total, counts) };
}

/** Losses of two tellings together; what is none is left out. */
export function addLosses(one: Losses, other: Losses): Losses {
  return presentCounts(plus(plus(NOTHING, one), other));
}

/** Everything lost, wherever. */
export function lostOf(counts: Settled): number {
  return LOSS_PLACES.reduce((sum, place) => sum + counts[place], 0);
}

/** What was lost in one hour; what is none is left out. */
export function lossesIn(ledger: LossLedger, hour: number): Losses {
  return lossesSince(ledger.hours.find((one) => one.hour === hour) ?? NOTHING);
}

/** What was lost since the counts were as they were then; what is none is left out. */
export function lossesSince(now: Settled, before: Settled = NOTHING): Losses {
  const more = LOSS_PLACES.map((place) => [place, now[place] - before[place]] as const);
  return Object.fromEntries(more.filter(([, count]) => count > 0));
}

/** Hours that are not as they were; the oldest change first. */
export function hoursChangedSince(now: LossLedger, before: LossLedger): readonly SettledHour[] {
  const known = new Map(before.hours.map((one) => [one.hour, one]));
  return now.hours.filter((one) => {
    const old = known.get(one.hour);
    return old === undefined || COUNTS.some((name) => old[name] !== one[name]);
  });
}

/** The counts that are not 0. */
export function presentCounts(counts: Settled): Partial<Settled> {
  return Object.fromEntries(
    COUNTS.flatMap((name) => (counts[name] > 0 ? [[name, counts[name]]] : [])),
  );
}

function plus(to: Settled, more: Partial<Settled>): Settled {
  const sum = { ...NOTHING };
  for (const name of COUNTS) {
    sum[name] = Math.min(Number.MAX_SAFE_INTEGER, to[name] + positive(more[name]));
  }
  return sum;
}

function positive(count: number | undefined): number {
  return count !== undefined && Number.isSafeInteger(count) && count > 0 ? count : 0;
}
