import { describe, expect, it } from 'vitest';
import { type ClockJump, createPauseLook, watchWallClock } from './clock-watch.ts';
import type { WheelClock } from './wheel-clock.ts';

function watched() {
  let monotonicMs = 0;
  let wallMs = 1_800_000_000_000;
  let due: (() => void) | null = null;
  const clock: WheelClock = {
    setTimeout: (run) => {
      due = () => run();
      return 1;
    },
    clearTimeout: () => {},
    size: () => 1,
    stop: () => {},
  };
  const jumps: ClockJump[] = [];
  const stop = watchWallClock({
    clock,
    now: () => wallMs,
    monotonicNow: () => monotonicMs,
    onJump: (jump) => jumps.push(jump),
  });
  const pass = (ms: number, jumpMs = 0) => {
    monotonicMs += ms;
    wallMs += ms + jumpMs;
    due?.();
  };
  return { jumps, pass, stop };
}

describe('wall clock watch', () => {
  it('should tell jumps in both directions once, with their size', () => {
    const { jumps, pass } = watched();
    pass(1_000);
    pass(1_000, 3_600_000);
    pass(1_000);
    pass(1_000, -86_400_000);
    expect(jumps.map(({ byMs }) => byMs)).toEqual([3_600_000, -86_400_000]);
  });

  it('should follow small drift silently and say nothing after stop', () => {
    const { jumps, pass, stop } = watched();
    for (let i = 0; i < 100; i += 1) pass(1_000, 900);
    expect(jumps).toEqual([]);
    stop();
    pass(1_000, 3_600_000);
    expect(jumps).toEqual([]);
  });
});

describe('watch for pauses', () => {
  it('should tell how long the process had no turns, and nothing of a look that is a little late', () => {
    const pauses: ClockJump[] = [];
    const now = { monotonicMs: 0, wallMs: 1_800_000_000_000 };
    const look = createPauseLook({
      now: () => now.wallMs,
      monotonicNow: () => now.monotonicMs,
      onPause: (pause) => pauses.push(pause),
    });
    for (const [ms, jumpMs] of [
      [1_000, 0],
      [2_000, 0],
      [321_000, 0],
      [1_000, 3_600_000],
    ] as const) {
      now.monotonicMs += ms;
      now.wallMs += ms + jumpMs;
      look();
    }
    expect(pauses).toEqual([{ atMs: 1_800_000_324_000, byMs: 320_000 }]);
  });
});
