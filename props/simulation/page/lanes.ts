// What the timeline shows, from the log of a run: for each host when it was up and had a stream, and what was accepted,
// refused and confirmed; and the accidents as bars. Time asleep is cut out, so that minutes around a failure stay
// readable in a run of a month.
import type { PlannedFault } from '../faults/kinds.ts';
import type { Logged } from '../world/world.ts';

export type Span = { readonly fromMs: number; readonly toMs: number };
export type Mark = {
  readonly atMs: number;
  readonly kind: 'accepted' | 'refused' | 'acknowledged';
  readonly text: string;
};
export type Lane = {
  readonly host: string;
  readonly up: readonly Span[];
  readonly stream: readonly Span[];
  readonly marks: readonly Mark[];
};
export type Bar = Span & { readonly name: string; readonly text: string; readonly row: number };
export type Lanes = Span & {
  readonly lanes: readonly Lane[];
  readonly bars: readonly Bar[];
  /** Where sleep was cut out. */
  readonly sleeps: readonly { readonly atMs: number; readonly sleptMs: number }[];
  readonly failedAtMs: number;
  /** When every accident was ended for good; null when the run did not come so far. */
  readonly healedAtMs: number | null;
};

export type Told = {
  readonly recent: readonly Logged[];
  readonly plan: readonly PlannedFault[];
  readonly hosts: readonly { readonly name: string; readonly isUp: boolean }[];
  /** The node whose certificate it is; null when nobody knows. */
  readonly nodeOf: (fingerprint: string) => string | null;
  readonly failedAtMs: number;
};

/** The last accidents that are shown, and at least so much time. */
const ACCIDENTS_SHOWN = 4;
const SHOWN_MIN_MS = 60_000;
/** Enough to see the last accidents before a healing that did not help. */
const SHOWN_MAX_MS = 50 * 60_000;
/** So much of the window is left free behind the failure. */
const AFTER_SHARE = 0.03;

/** Lays out the time before the failure. All times in the answer are awake time. */
export function layLanes(told: Told): Lanes {
  const slept = told.recent.flatMap(({ atMs, observation }) =>
    observation.kind === 'world.slept' ? [{ atMs, ms: observation.ms }] : [],
  );
  const oldestMs = told.recent[0]?.atMs ?? 0;
  const awake = (atMs: number): number =>
    slept.reduce((left, sleep) => left - (sleep.atMs <= atMs ? sleep.ms : 0), atMs);
  const failedAtMs = awake(told.failedAtMs);
  const faults = told.recent.filter(({ observation }) => observation.kind === 'fault');
  const firstShown = awake(faults.at(-ACCIDENTS_SHOWN)?.atMs ?? oldestMs);
  const wantedMs = Math.min(firstShown - 5_000, failedAtMs - SHOWN_MIN_MS);
  const fromMs = Math.max(wantedMs, awake(oldestMs), failedAtMs - SHOWN_MAX_MS);
  const toMs = failedAtMs + (failedAtMs - fromMs) * AFTER_SHARE;
  const window = { fromMs, toMs, failedAtMs };
  const healed = told.recent.find(({ observation }) => observation.kind === 'healed');
  return {
    ...window,
    healedAtMs: healed === undefined ? null : awake(healed.atMs),
    lanes: told.hosts.map((host) => laneOf(host, told, { ...window, awake })),
    bars: barsOf(told, { ...window, awake }),
    sleeps: slept
      .map(({ atMs, ms }) => ({ atMs: awake(atMs), sleptMs: ms }))
      .filter(({ atMs }) => atMs > fromMs && atMs < toMs),
  };
}

type Window = Span & {
  readonly failedAtMs: number;
  readonly awake: (atMs: number) => number;
};

function laneOf(host: Told['hosts'][number], told: Told, window: Window): Lane {
  const up: Switch[] = [];
  const stream: Switch[] = [];
  const marks: Mark[] = [];
  const isOwn = (fingerprint: string | null): boolean =>
    fingerprint !== null && told.nodeOf(fingerprint) === host.name;
  for (const { atMs: trueMs, observation: seen } of told.recent) {
    const atMs = window.awake(trueMs);
    const mark = (kind: Mark['kind'], text: string): void => void marks.push({ atMs, kind, text });
    if (seen.kind === 'process.started' && seen.host === host.name) up.push({ atMs, isOn: true });
    else if (seen.kind === 'process.ended' && seen.host === host.name) {
      up.push({ atMs, isOn: false });
      stream.push({ atMs, isOn: false });
    } else if (seen.kind === 'stream.opened' && isOwn(seen.fingerprint)) {
      stream.push({ atMs, isOn: true });
    } else if (seen.kind === 'stream.closed' && isOwn(seen.fingerprint)) {
      stream.push({ atMs, isOn: false });
    } else if (seen.kind === 'request.accepted' && isOwn(seen.fingerprint)) {
      mark('accepted', `${seen.path} accepted by ${seen.console}`);
    } else if (
      seen.kind === 'request.refused' &&
      (isOwn(seen.fingerprint) || (seen.fingerprint === null && seen.console === host.name))
    ) {
      mark('refused', `${seen.path} refused by ${seen.console}: ${seen.status} ${seen.code}`);
    } else if (seen.kind === 'batch.acknowledged' && isOwn(seen.fingerprint)) {
      const { channel, sequence, events } = seen.batch;
      mark('acknowledged', `${channel} ${sequence} of ${events.length} events confirmed`);
    }
  }
  return {
    host: host.name,
    up: spansOf(up, window, up.length === 0 && host.isUp),
    stream: spansOf(stream, window, false),
    marks: marks.filter(({ atMs }) => atMs >= window.fromMs && atMs <= window.toMs),
  };
}

type Switch = { readonly atMs: number; readonly isOn: boolean };

/** A first switch that turns off says that it was on before. */
function spansOf(
  switches: readonly Switch[],
  { fromMs, toMs, failedAtMs }: Window,
  isOn: boolean,
): readonly Span[] {
  const spans: Span[] = [];
  let onSinceMs = isOn || switches[0]?.isOn === false ? fromMs : null;
  for (const next of switches) {
    if (next.isOn) onSinceMs ??= next.atMs;
    else if (onSinceMs !== null) {
      spans.push({ fromMs: onSinceMs, toMs: next.atMs });
      onSinceMs = null;
    }
  }
  if (onSinceMs !== null) spans.push({ fromMs: onSinceMs, toMs: failedAtMs });
  return spans
    .filter((span) => span.toMs > fromMs && span.fromMs < toMs)
    .map((span) => ({ fromMs: Math.max(span.fromMs, fromMs), toMs: Math.min(span.toMs, toMs) }));
}

function barsOf(
  { plan, recent }: Told,
  { awake, fromMs, toMs, failedAtMs }: Window,
): readonly Bar[] {
  const healedMs = recent.find(({ observation }) => observation.kind === 'healed')?.atMs;
  const endMs = healedMs === undefined ? failedAtMs : Math.min(awake(healedMs), failedAtMs);
  const rows: number[] = [];
  const bars: Bar[] = [];
  for (const { kind, atMs, durationMs, id } of plan) {
    const beginMs = awake(atMs);
    if (beginMs > endMs || beginMs + durationMs < fromMs) continue;
    const span = { fromMs: Math.max(fromMs, beginMs), toMs: Math.min(endMs, beginMs + durationMs) };
    // A name needs room to be read, however short its accident was.
    const roomMs = Math.max(span.toMs - span.fromMs, (toMs - fromMs) * 0.16);
    const free = rows.findIndex((untilMs) => untilMs <= span.fromMs);
    const row = free === -1 ? rows.length : free;
    rows[row] = span.fromMs + roomMs;
    bars.push({ ...span, name: kind, text: `${id}: ${kind} for ${durationMs} ms`, row });
  }
  return bars;
}
