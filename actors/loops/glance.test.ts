// A loop that has nothing to do begins no run, is seen to have looked, and runs the moment there is something.
import { expect, it } from 'vitest';
import { silentLogger } from '../runtime/silent-logger.ts';
import { createWheelClock } from '../runtime/wheel-clock.ts';
import { instantLoop, type Loop, processLoop } from './loop.ts';
import { createLoopRegistry } from './loop-registry.ts';

const EVERY_MS = 1_000;

function open(loop: Loop) {
  let nowMs = 0;
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  const time = {
    monotonicNow: () => nowMs,
    setTimeout(run: () => void, delayMs: number) {
      const timer = { atMs: nowMs + delayMs, run };
      timers.add(timer);
      return timer;
    },
    clearTimeout: (timer: unknown) => void timers.delete(timer as never),
  };
  const loops = createLoopRegistry({
    ...{ clock: createWheelClock({ time }), now: () => nowMs, monotonicNow: () => nowMs },
    ...{ logger: silentLogger, designation: null },
  });
  loops.add(loop);
  loops.start();
  async function pass(ms: number): Promise<void> {
    const untilMs = nowMs + ms;
    for (;;) {
      await new Promise(setImmediate);
      const [first] = [...timers].sort((a, b) => a.atMs - b.atMs);
      if (first === undefined || first.atMs > untilMs) break;
      nowMs = Math.max(nowMs, first.atMs);
      timers.delete(first);
      first.run();
    }
    nowMs = untilMs;
  }
  return { loops, pass };
}

it('should begin no run while there is nothing to do, and tell that it looked', async () => {
  const ran: string[] = [];
  let hasWork = false;
  const own = open(
    processLoop(
      'writes',
      EVERY_MS,
      () => void ran.push('run'),
      () => hasWork,
    ),
  );
  const snapshots: unknown[] = [];
  await own.pass(500);
  own.loops.actorOf('writes')?.subscribe((snapshot) => void snapshots.push(snapshot));
  await own.pass(10 * EVERY_MS);
  expect(ran).toEqual(['run']);
  expect(snapshots).toEqual([]);
  const quiet = own.loops.get('writes');
  expect(quiet).toMatchObject({ state: 'waiting', runs: 11, failedRuns: 0 });
  expect(quiet?.lastRun?.endedAtMs).toBeGreaterThan(9 * EVERY_MS);
  expect(quiet?.nextAtMs).toBeGreaterThan(10 * EVERY_MS);
  hasWork = true;
  await own.pass(EVERY_MS);
  expect(ran).toEqual(['run', 'run']);
  expect(own.loops.get('writes')).toMatchObject({ state: 'waiting', runs: 12 });
});

it('should run when it is asked to, whatever a glance would say, and end at a stop', async () => {
  const ran: string[] = [];
  const own = open(
    processLoop(
      'writes',
      EVERY_MS,
      () => void ran.push('run'),
      () => false,
    ),
  );
  await own.pass(3 * EVERY_MS);
  expect(own.loops.runNow('writes')).toBe('started');
  await own.pass(0);
  expect(ran).toHaveLength(2);
  await own.loops.stop();
  const { runs } = own.loops.get('writes') ?? {};
  await own.pass(10 * EVERY_MS);
  expect(own.loops.get('writes')).toMatchObject({ state: 'stopped', runs });
});

it('should count a glance that fails as a run that fails, and run until one succeeds', async () => {
  let isBroken = false;
  let worked = 0;
  const own = open(
    instantLoop('sweep', EVERY_MS, () => {
      if (isBroken) throw new Error('the view is broken');
      worked += 1;
    }),
  );
  await own.pass(3 * EVERY_MS);
  const before = worked;
  isBroken = true;
  await own.pass(EVERY_MS);
  const failed = own.loops.get('sweep');
  expect(failed).toMatchObject({ failedRuns: 1, failures: 1 });
  expect(failed?.lastRun?.failure).toContain('the view is broken');
  isBroken = false;
  await own.pass(3 * EVERY_MS);
  expect(worked).toBeGreaterThan(before);
  expect(own.loops.get('sweep')).toMatchObject({ failedRuns: 1, failures: 0 });
});
