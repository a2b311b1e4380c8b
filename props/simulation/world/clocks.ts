// The clocks of a simulated host: a wall clock that is off, drifts and jumps, a monotonic one that only drifts, and
// timers that follow the monotonic one, cut to the tick of the wheel that runs in production.

import type { WheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { WHEEL_TICK_MS } from '../../../machines/limits.ts';
import type { Time } from '../../../storage/ports/plumbing/clock.ts';
import type { Life } from './life.ts';
import type { ScheduledTimer, Scheduler } from './scheduler.ts';

/** True time 0 as a date: 2026-01-01T00:00:00Z. */
export const WORLD_BEGINS_MS = Date.UTC(2026, 0, 1);

export type HostClock = {
  /** What the host believes the date is, whole milliseconds. */
  wallNow(): number;
  /** Milliseconds since the host's boot as the host counts them. */
  monotonicNow(): number;
  /** Sets the wall clock forward or back. */
  jump(byMs: number): void;
  /** True time of the last jump; minus infinity before the first. */
  jumpedAtMs(): number;
  /** Host's wall clock minus true time. */
  errorMs(): number;
};

/** Makes the clocks of a host; `driftPpm` makes it run fast or slow. */
export function createHostClock(
  scheduler: Scheduler,
  options: { readonly offsetMs?: number; readonly driftPpm?: number } = {},
): HostClock & { readonly rate: number } {
  const rate = 1 + (options.driftPpm ?? 0) / 1_000_000;
  let offsetMs = options.offsetMs ?? 0;
  let jumpedAtMs = Number.NEGATIVE_INFINITY;
  const wall = (): number => Math.round(WORLD_BEGINS_MS + scheduler.now() * rate + offsetMs);
  return {
    rate,
    wallNow: wall,
    // It stands still while the host is suspended; the date does not.
    monotonicNow: () => (scheduler.now() - scheduler.sleptMs()) * rate,
    jump(byMs) {
      offsetMs += byMs;
      if (byMs !== 0) jumpedAtMs = scheduler.now();
    },
    jumpedAtMs: () => jumpedAtMs,
    errorMs: () => wall() - WORLD_BEGINS_MS - scheduler.now(),
  };
}

const hosts = new WeakMap<object, string>();

/** Whose wheel it is, for reports: an actor knows its clock, not its host. Null when it is no wheel of this world. */
export function hostOfWheel(wheel: object): string | null {
  return hosts.get(wheel) ?? null;
}

type Entry = { readonly id: number; readonly dueAtMs: number; run: (() => void) | null };

/**
 * The wheel of a process, turn for turn as in production: what is due in one tick runs in one go, in the order of its
 * due time, then of its arming.
 */
export function wheelOf(life: Life, clock: HostClock & { readonly rate: number }): WheelClock {
  const turns = new Map<number, Entry[]>();
  const armed = new Map<number, Entry>();
  const startMs = clock.monotonicNow();
  let nextId = 1;
  let isStopped = false;
  /** As in the real wheel: what a timer arms counts from when that timer was due. */
  let runningDueMs: number | null = null;

  /** A turn that comes late, because its process was paused, takes all that is due by now. */
  function takeDue(tick: number): Entry[] {
    const elapsedMs = clock.monotonicNow() - startMs;
    const nowTick = Math.max(tick, Math.floor(elapsedMs / WHEEL_TICK_MS + EARLY_TICKS));
    if (nowTick === tick) {
      const due = turns.get(tick) ?? [];
      turns.delete(tick);
      return due;
    }
    const late = [...turns.keys()].filter((one) => one <= nowTick);
    return late.flatMap((one) => {
      const due = turns.get(one) ?? [];
      turns.delete(one);
      return due;
    });
  }

  function turn(tick: number): void {
    const due = takeDue(tick);
    for (const entry of due.sort((a, b) => a.dueAtMs - b.dueAtMs || a.id - b.id)) {
      const { run } = entry;
      if (run === null) continue;
      armed.delete(entry.id);
      runningDueMs = entry.dueAtMs;
      try {
        run();
      } finally {
        runningDueMs = null;
      }
    }
  }

  const wheel: WheelClock = {
    setTimeout(run, delayMs) {
      const id = nextId++;
      if (isStopped) return id;
      const elapsedMs = clock.monotonicNow() - startMs;
      const fromMs = Math.max(runningDueMs ?? elapsedMs, elapsedMs - WHEEL_TICK_MS);
      const dueAtMs = fromMs + Math.max(0, Number.isFinite(delayMs) ? delayMs : 0);
      const soonest = Math.floor(elapsedMs / WHEEL_TICK_MS + EARLY_TICKS) + 1;
      const tick = Math.max(soonest, Math.ceil(dueAtMs / WHEEL_TICK_MS));
      const entry: Entry = { id, dueAtMs, run: () => run() };
      armed.set(id, entry);
      const others = turns.get(tick);
      if (others === undefined) {
        turns.set(tick, [entry]);
        life.after((tick * WHEEL_TICK_MS - elapsedMs) / clock.rate, () => turn(tick));
      } else others.push(entry);
      return id;
    },
    clearTimeout(id) {
      const entry = armed.get(id);
      if (entry === undefined) return;
      entry.run = null;
      armed.delete(id);
    },
    size: () => armed.size,
    stop() {
      isStopped = true;
      for (const entry of armed.values()) entry.run = null;
      armed.clear();
    },
  };
  hosts.set(wheel, life.host);
  return wheel;
}

/** A drifting clock reaches a tick with a rounding error; so near to it, the tick is over. */
const EARLY_TICKS = 1e-9;

/** Time as a Console's stores have it: timers without a wheel. */
export function timeOf(life: Life, clock: HostClock & { readonly rate: number }): Time {
  return {
    now: clock.wallNow,
    monotonicNow: clock.monotonicNow,
    setTimeout: (run, delayMs) => life.after(Math.max(0, delayMs) / clock.rate, run),
    clearTimeout(timer) {
      if (timer !== null && timer !== undefined) (timer as ScheduledTimer).run = null;
    },
  };
}
