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

/** Calls back after every jump of more than CLOCK_JUMP_MS; drift below it is followed silently. Returns a stop function. */
export function watchWallClock(options: {
  readonly clock: WheelClock;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly onJump: (jump: ClockJump) => void;
}): () => void {
  let offsetMs = options.now() - options.monotonicNow();
  let isStopped = false;
  const look = (): void => {
    if (isStopped) return;
    const atMs = options.now();
    const nextOffsetMs = atMs - options.monotonicNow();
    const byMs = nextOffsetMs - offsetMs;
    offsetMs = nextOffsetMs;
    if (Math.abs(byMs) > CLOCK_JUMP_MS) options.onJump({ atMs, byMs });
    options.clock.setTimeout(look, CLOCK_CHECK_INTERVAL_MS);
  };
  options.clock.setTimeout(look, CLOCK_CHECK_INTERVAL_MS);
  return () => {
    isStopped = true;
  };
}
