// The intervals of a program: the specification's own, with what its file or its operators put over them. They hold
// together or not at all: relations between them are checked as a whole. decision: D20
import { INTERVALS, type IntervalName, type Intervals } from './limits.ts';

type Relation = readonly [rule: string, holds: (intervals: Intervals) => boolean];
const RELATIONS: readonly Relation[] = [
  [
    'staleness is longer than two heartbeats',
    (i) => i.STALENESS_WINDOW_MS > 2 * i.HEARTBEAT_INTERVAL_MS,
  ],
  [
    'renewal due < renewal recommended < certificate lifetime',
    (i) =>
      i.RENEWAL_DUE_MS < i.RENEWAL_RECOMMENDED_MS &&
      i.RENEWAL_RECOMMENDED_MS < i.CLIENT_CERTIFICATE_TTL_MS,
  ],
  ['reconnect backoff rises', (i) => i.RECONNECT_BACKOFF_MIN_MS <= i.RECONNECT_BACKOFF_MAX_MS],
  ['the stream ticks faster than the heartbeat', (i) => i.STREAM_TICK_MS < i.HEARTBEAT_INTERVAL_MS],
  [
    'the renewal overlap ends before the certificate lifetime does',
    (i) => i.PREVIOUS_CERTIFICATE_OVERLAP_MS < i.CLIENT_CERTIFICATE_TTL_MS,
  ],
  [
    'a heartbeat ends before the next is due',
    (i) => i.HEARTBEAT_TIMEOUT_MS <= i.HEARTBEAT_INTERVAL_MS,
  ],
  [
    'uses of a session are written well before it is idle',
    (i) => 2 * i.SEEN_WRITE_INTERVAL_MS <= i.SESSION_IDLE_MS,
  ],
  ['a session is idle before it ends', (i) => i.SESSION_IDLE_MS <= i.SESSION_ABSOLUTE_MS],
  [
    'every interval is a positive number',
    (i) => Object.values(i).every((value) => Number.isFinite(value) && value > 0),
  ],
];

export type IntervalsResult =
  | { readonly ok: true; readonly intervals: Intervals }
  | { readonly ok: false; readonly mistakes: readonly string[] };

/** Overlays named intervals on the defaults; unknown names and broken relations come back as mistakes, all at once. */
export function resolveIntervals(
  overrides: Readonly<Record<string, unknown>> = {},
): IntervalsResult {
  const mistakes: string[] = [];
  const merged: Record<IntervalName, number> = { ...INTERVALS };
  for (const [name, value] of Object.entries(overrides)) {
    if (!isIntervalName(name))
      mistakes.push(`intervals.${name}: there is no interval of this name`);
    else if (typeof value !== 'number') mistakes.push(`intervals.${name}: must be milliseconds`);
    else merged[name] = value;
  }
  for (const [rule, holds] of RELATIONS) if (!holds(merged)) mistakes.push(`intervals: ${rule}`);
  if (mistakes.length > 0) return { ok: false, mistakes };
  return { ok: true, intervals: Object.freeze(merged) };
}

function isIntervalName(name: string): name is IntervalName {
  return Object.hasOwn(INTERVALS, name);
}

const defaults = resolveIntervals();
if (!defaults.ok)
  throw new Error(`the intervals contradict themselves: ${defaults.mistakes.join('; ')}`);
/** The specification's own intervals, checked. */
export const DEFAULT_INTERVALS: Intervals = defaults.intervals;
