// Drives virtual time from a test that waits in real time: while it runs, every turn of the event loop is a little of
// virtual time.
import type { Scheduler } from './scheduler.ts';

const STEP_MS = 20;

/** Starts; the function it gives back ends it. */
export function pumpTime(scheduler: Scheduler, stepMs: number = STEP_MS): () => Promise<void> {
  let isStopped = false;
  async function run(): Promise<void> {
    while (!isStopped) {
      await scheduler.runUntil(scheduler.now() + stepMs);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  const ended = run();
  return () => {
    isStopped = true;
    return ended;
  };
}
