// An actor as people read it: value, context and waiting delays of its snapshot, all of it plain JSON.
import type { AnyMachineSnapshot } from 'xstate';
import type { RunningTimer } from '../../../actors/runtime/running-timers.ts';
import type { ActorView } from '../plumbing/deps.ts';
import { timeText, timeTextOrNull } from '../plumbing/time-range.ts';

export type ActorLine = {
  readonly kind: string;
  readonly id: string;
  readonly value: unknown;
  readonly status: string;
  readonly since: string;
  readonly last_event: string;
  readonly restarts: number;
  readonly about: Readonly<Record<string, unknown>> | null;
};

/** One line of the list of actors. */
export function actorLine(kind: string, view: ActorView): ActorLine {
  const snapshot = machineSnapshotOf(view.snapshot);
  return {
    kind,
    id: view.id,
    value: snapshot === null ? null : jsonSafe(snapshot.value),
    status: snapshot?.status ?? 'unknown',
    since: timeText(view.sinceMs),
    last_event: view.lastEvent,
    restarts: view.restarts,
    about: view.about ?? null,
  };
}

/** The line plus context, tags and the timers that run. */
export function actorDetail(kind: string, view: ActorView) {
  const snapshot = machineSnapshotOf(view.snapshot);
  return {
    ...actorLine(kind, view),
    context: snapshot === null ? null : jsonSafe(snapshot.context),
    tags: snapshot === null ? [] : [...snapshot.tags].sort(),
    timers: (view.timers ?? []).map(timerView),
  };
}

// A delay without an end is due at no instant.
const INSTANT_MAX_MS = 8_640_000_000_000_000;

/** A running timer as people read it. */
export function timerView({ dueMs, ...timer }: RunningTimer) {
  return {
    ...timer,
    targets: [...timer.targets],
    due: timeTextOrNull(dueMs > INSTANT_MAX_MS ? null : dueMs),
  };
}

function machineSnapshotOf(snapshot: unknown): AnyMachineSnapshot | null {
  const isMachine =
    typeof snapshot === 'object' &&
    snapshot !== null &&
    'value' in snapshot &&
    'machine' in snapshot;
  return isMachine ? (snapshot as AnyMachineSnapshot) : null;
}

/** A copy that JSON can hold; what it cannot is said in words. */
export function jsonSafe(value: unknown): unknown {
  const seen = new WeakSet<object>();
  const text = JSON.stringify(value, (_name, inner: unknown) => {
    if (typeof inner === 'bigint') return inner.toString();
    if (typeof inner === 'function') return '[function]';
    if (typeof inner !== 'object' || inner === null) return inner;
    if (seen.has(inner)) return '[repeated]';
    seen.add(inner);
    if (inner instanceof Error) return inner.message;
    if (inner instanceof Map) return Object.fromEntries(inner);
    return inner instanceof Set ? [...inner] : inner;
  });
  return text === undefined ? null : JSON.parse(text);
}
