// Notices when the wall clock jumps away from monotonic time, so that actors that hold dates can look again. Every actor
// runs on the monotonic wheel; only certificate and license dates are wall-clock facts. decision: D4
import { CLOCK_CHECK_INTERVAL_MS, CLOCK_JUMP_MS } from '../../machines/limits.ts';
import type { WheelClock } from './wheel-clock.ts';

export type ClockJump = {
  /** The wall clock after the jump. */
  readonly atMs: number;
  /** Positive = forward. */
  readonly byMs: number;
};

export type ClockWatchOptions = {
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly onJump: (jump: ClockJump) => void;
};

/** Makes a look at both clocks: called often, it tells every jump of more than CLOCK_JUMP_MS; less is followed silently. */
export function createClockLook({ now, monotonicNow, onJump }: ClockWatchOptions): () => void {
  let offsetMs = now() - monotonicNow();
  return () => {
    const atMs = now();
    const nextOffsetMs = atMs - monotonicNow();
    const byMs = nextOffsetMs - offsetMs;
    offsetMs = nextOffsetMs;
    if (Math.abs(byMs) > CLOCK_JUMP_MS) onJump({ atMs, byMs });
  };
}

/** What a look finds that comes later than it was to come: for so long the process had no turns, and heard nothing. */
export type PauseWatchOptions = {
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly onPause: (pause: ClockJump) => void;
};

/** Makes a look that is made every CLOCK_CHECK_INTERVAL_MS: it tells when it comes more than CLOCK_JUMP_MS late. */
export function createPauseLook({ now, monotonicNow, onPause }: PauseWatchOptions): () => void {
  let dueMs = monotonicNow() + CLOCK_CHECK_INTERVAL_MS;
  return () => {
    const atMs = monotonicNow();
    const byMs = atMs - dueMs;
    dueMs = atMs + CLOCK_CHECK_INTERVAL_MS;
    if (byMs > CLOCK_JUMP_MS) onPause({ atMs: now(), byMs });
  };
}

/** Looks at both clocks every CLOCK_CHECK_INTERVAL_MS. Returns a stop function. */
export function watchWallClock(
  options: ClockWatchOptions & { readonly clock: WheelClock },
): () => void {
  const look = createClockLook(options);
  let isStopped = false;
  const tick = (): void => {
    if (isStopped) return;
    look();
    options.clock.setTimeout(tick, CLOCK_CHECK_INTERVAL_MS);
  };
  options.clock.setTimeout(tick, CLOCK_CHECK_INTERVAL_MS);
  return () => {
    isStopped = true;
  };
}
