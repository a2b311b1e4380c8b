// The registry by example, on clocks of the test: what runs where, who takes over, and what a run that is too late may do.
import { beforeEach, describe, expect, it } from 'vitest';
import { DESIGNATION_SILENCE_MS } from '../../machines/console/runtime/loop-limits.ts';
import { createMemoryDesignation } from '../../storage/memory/runtime/designation.ts';
import { Overtaken } from '../../storage/ports/runtime/designation.ts';
import { silentLogger } from '../runtime/silent-logger.ts';
import { createWheelClock, type WheelTime } from '../runtime/wheel-clock.ts';
import type { DesignatedLoop, UpkeepLoop } from './loop.ts';
import { createLoopRegistry } from './loop-registry.ts';

/** Monotonic time that is moved by hand; a process that is frozen does not hear of it. */
function handTime() {
  let nowMs = 0;
  let isFrozen = false;
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  const time: WheelTime = {
    monotonicNow: () => nowMs,
    setTimeout(run, delayMs) {
      const timer = { atMs: nowMs + delayMs, run };
      timers.add(timer);
      return timer;
    },
    clearTimeout: (timer) => void timers.delete(timer as never),
  };
  const settle = () => new Promise(setImmediate);
  async function pass(ms: number): Promise<void> {
    const untilMs = nowMs + ms;
    for (;;) {
      await settle();
      const [first] = isFrozen ? [] : [...timers].sort((a, b) => a.atMs - b.atMs);
      if (first === undefined || first.atMs > untilMs) break;
      nowMs = Math.max(nowMs, first.atMs);
      timers.delete(first);
      first.run();
    }
    nowMs = untilMs;
  }
  return {
    time,
    pass,
    freeze: (frozen: boolean) => {
      isFrozen = frozen;
    },
  };
}

let database: ReturnType<typeof createMemoryDesignation>;
beforeEach(() => {
  database = createMemoryDesignation();
});

/** One Console with two loops; `began` notes the epoch of every run. */
function open(holder: string, stands = true) {
  const { time, ...hand } = handTime();
  const began: (number | 'upkeep')[] = [];
  const told: AbortSignal[] = [];
  let work: () => Promise<void> = async () => undefined;
  const digest: DesignatedLoop = {
    ...{ name: 'digest', runsOn: 'designated', everyMs: 1_000 },
    async run({ signal, epoch }) {
      began.push(epoch);
      told.push(signal);
      await work();
      return undefined;
    },
  };
  const sweep: UpkeepLoop = {
    ...{ name: 'sweep', runsOn: 'process', everyMs: 60_000 },
    async run() {
      began.push('upkeep');
      return undefined;
    },
  };
  const { monotonicNow } = time;
  const port = database.designation;
  const loops = createLoopRegistry({
    ...{ clock: createWheelClock({ time }), now: monotonicNow, monotonicNow },
    logger: silentLogger,
    designation: stands ? { port, holder } : null,
  });
  loops.add(digest);
  loops.add(sweep);
  loops.start();
  return {
    ...hand,
    ...{ loops, began, told },
    works: (next: () => Promise<void>) => {
      work = next;
    },
  };
}

describe('the registry of loops', () => {
  it('should run upkeep everywhere and a designated loop in one Console', async () => {
    const [one, two] = [open('one'), open('two')];
    await one.pass(3_500);
    await two.pass(3_500);
    expect(one.began).toEqual(['upkeep', 1, 1, 1, 1]);
    expect(two.began).toEqual(['upkeep']);
    expect(two.loops.get('digest')).toMatchObject({ state: 'off_duty', runs: 0 });
    expect(two.loops.runNow('digest')).toBe('off_duty');
    expect(two.loops.runNow('nothing')).toBe('absent');
  });

  it('should leave designated loops to others when background tasks are off, and keep upkeep', async () => {
    const off = open('off', false);
    await off.pass(61_000);
    expect(off.began).toEqual(['upkeep', 'upkeep']);
    const on = open('on');
    await on.pass(100);
    expect(on.began).toEqual(['upkeep', 1]);
  });

  it('should hand over at a stop, to the next epoch', async () => {
    const [one, two] = [open('one'), open('two')];
    await one.pass(500);
    await one.loops.stop();
    await two.pass(1_500);
    expect(two.began).toEqual(['upkeep', 2]);
    expect(one.loops.list().map(({ state }) => state)).toEqual(['stopped', 'stopped']);
  });

  it('should tell a run to end when the lock is lost, and begin no other', async () => {
    const one = open('one');
    await one.pass(500);
    let end = () => {};
    const held = new Promise<void>((resolve) => {
      end = resolve;
    });
    one.works(() => held);
    expect(one.loops.runNow('digest')).toBe('started');
    expect(one.loops.runNow('digest')).toBe('running');
    database.setAway(true);
    await one.pass(DESIGNATION_SILENCE_MS);
    expect(one.told.at(-1)?.aborted).toBe(true);
    expect(one.loops.get('digest')?.state).toBe('running');
    end();
    await one.pass(10_000);
    expect(one.loops.get('digest')).toMatchObject({ state: 'off_duty', runs: 2 });
  });

  it('should begin nothing after a freeze before the lock is proven again', async () => {
    const one = open('one');
    await one.pass(500);
    const before = one.began.length;
    one.freeze(true);
    await one.pass(DESIGNATION_SILENCE_MS);
    one.freeze(false);
    // The timer of the loop is due before that of the proof.
    await one.pass(50);
    expect(one.began).toHaveLength(before);
    expect(one.loops.get('digest')?.lastRun?.failure).toContain('not known to be designated');
  });

  it('should step down at once when the database says that another Console is designated', async () => {
    const one = open('one');
    await one.pass(500);
    one.works(async () => {
      one.works(async () => undefined);
      throw new Overtaken(1);
    });
    one.loops.runNow('digest');
    await one.pass(0);
    expect(one.loops.designation()).toEqual({ stands: true, epoch: null });
    expect(one.loops.get('digest')).toMatchObject({ state: 'off_duty', failedRuns: 1 });
    await one.pass(1_500);
    expect(one.loops.designation()).toEqual({ stands: true, epoch: 2 });
  });

  it('should refuse two loops of one name, and one that comes after the start', () => {
    const { loops } = open('one');
    const late: UpkeepLoop = {
      ...{ name: 'late', runsOn: 'process', everyMs: 1, run: async () => undefined },
    };
    expect(() => loops.add(late)).toThrow('after the start');
    const empty = createLoopRegistry({
      ...{ clock: createWheelClock(), now: () => 0, monotonicNow: () => 0 },
      ...{ logger: silentLogger, designation: null },
    });
    empty.add(late);
    expect(() => empty.add(late)).toThrow('two loops');
  });
});
