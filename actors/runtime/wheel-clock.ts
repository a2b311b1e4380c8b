// One hashed timer wheel behind every actor of both programs: an `after` costs a list insertion, delays may be longer
// than a native timer can hold (2^31 ms), and a wall-clock jump does not move anything, because the wheel turns on
// monotonic time. The native timer sleeps until the earliest occupied slot is due. decision: D4
import { WHEEL_TICK_MS } from '../../machines/limits.ts';

const SLOTS = 4_096;

export type WheelClock = {
  setTimeout(run: (...args: unknown[]) => void, delayMs: number): number;
  clearTimeout(id: number): void;
  /** Timers that are armed now. */
  size(): number;
  stop(): void;
};

export type WheelTime = {
  /** Milliseconds that never go back. */
  monotonicNow(): number;
  setTimeout(run: () => void, delayMs: number): unknown;
  clearTimeout(timer: unknown): void;
};

type Entry = {
  readonly id: number;
  readonly dueTick: number;
  /** Order of arming, so that timers due in one tick run in the order of their due time, then of arming. */
  readonly dueAtMs: number;
  readonly run: () => void;
};

const PROCESS_TIME: WheelTime = {
  monotonicNow: () => performance.now(),
  setTimeout: (run, delayMs) => setTimeout(run, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** Makes a wheel; `onError` receives what a timer's callback throws, so that one cannot stop the others. */
export function createWheelClock(
  options: {
    readonly time?: WheelTime;
    readonly tickMs?: number;
    readonly onError?: (error: unknown) => void;
  } = {},
): WheelClock {
  const { time = PROCESS_TIME, tickMs = WHEEL_TICK_MS, onError = rethrowLater } = options;
  const slots: Map<number, Entry>[] = Array.from({ length: SLOTS }, () => new Map());
  const slotOf = new Map<number, number>();
  const startMs = time.monotonicNow();
  let doneTick = 0;
  let nextId = 1;
  let native: unknown = null;
  let nativeTick = Number.POSITIVE_INFINITY;
  let isStopped = false;
  /** When the timer whose callback runs was due; what it arms counts from there, so that no lateness adds up. */
  let runningDueMs: number | null = null;

  const tickAt = (ms: number) => Math.ceil((ms - startMs) / tickMs);

  function arm(dueTick: number): void {
    if (dueTick >= nativeTick || isStopped) return;
    if (native !== null) time.clearTimeout(native);
    nativeTick = dueTick;
    const waitMs = Math.max(1, startMs + dueTick * tickMs - time.monotonicNow());
    native = time.setTimeout(turn, Math.ceil(waitMs));
  }

  function turn(): void {
    native = null;
    nativeTick = Number.POSITIVE_INFINITY;
    const nowTick = Math.floor((time.monotonicNow() - startMs) / tickMs);
    const due = takeDue(nowTick);
    // What a callback arms is due in a later turn, never in this one.
    doneTick = Math.max(doneTick, nowTick);
    for (const entry of due) {
      if (!slotOf.delete(entry.id)) continue;
      runningDueMs = entry.dueAtMs;
      try {
        entry.run();
      } catch (error) {
        onError(error);
      }
      runningDueMs = null;
    }
    const next = earliestTick();
    if (next !== null) arm(next);
  }

  function takeDue(nowTick: number): Entry[] {
    const due: Entry[] = [];
    const span = Math.min(nowTick - doneTick, SLOTS - 1);
    for (let tick = nowTick - span; tick <= nowTick; tick += 1) {
      const slot = slots[tick % SLOTS];
      for (const entry of slot?.values() ?? []) {
        if (entry.dueTick > nowTick) continue;
        slot?.delete(entry.id);
        due.push(entry);
      }
    }
    return due.sort((a, b) => a.dueAtMs - b.dueAtMs || a.id - b.id);
  }

  // Looks one turn ahead; a longer timer is found again when that turn is over.
  function earliestTick(): number | null {
    if (slotOf.size === 0) return null;
    for (let tick = doneTick + 1; tick < doneTick + SLOTS; tick += 1) {
      const slot = slots[tick % SLOTS];
      if (slot === undefined || slot.size === 0) continue;
      for (const entry of slot.values()) if (entry.dueTick <= tick) return tick;
    }
    return doneTick + SLOTS - 1;
  }

  return {
    setTimeout(run, delayMs) {
      const id = nextId++;
      if (isStopped) return id;
      const nowMs = time.monotonicNow();
      const fromMs = Math.max(runningDueMs ?? nowMs, nowMs - tickMs);
      const dueAtMs = fromMs + Math.max(0, Number.isFinite(delayMs) ? delayMs : 0);
      const dueTick = Math.max(doneTick + 1, tickAt(dueAtMs));
      const slot = dueTick % SLOTS;
      slots[slot]?.set(id, { id, dueTick, dueAtMs, run: () => run() });
      slotOf.set(id, slot);
      arm(Math.min(dueTick, doneTick + SLOTS - 1));
      return id;
    },
    clearTimeout(id) {
      const slot = slotOf.get(id);
      if (slot === undefined) return;
      slotOf.delete(id);
      slots[slot]?.delete(id);
    },
    size: () => slotOf.size,
    stop() {
      isStopped = true;
      if (native !== null) time.clearTimeout(native);
      for (const slot of slots) slot.clear();
      slotOf.clear();
    },
  };
}

function rethrowLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
