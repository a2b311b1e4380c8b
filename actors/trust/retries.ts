// What is tried again after a while, until whoever tries is stopped.
import type { Timers } from '../../storage/ports/plumbing/clock.ts';

export type Retries = {
  later(run: () => Promise<void>): void;
  stop(): void;
};

/** Each waits for so long. */
export function createRetries(timers: Timers, delayMs: number): Retries {
  const waiting = new Set<unknown>();
  let isStopped = false;
  return {
    later(run) {
      if (isStopped) return;
      const timer = timers.setTimeout(() => {
        waiting.delete(timer);
        void run();
      }, delayMs);
      waiting.add(timer);
    },
    stop() {
      isStopped = true;
      for (const timer of waiting) timers.clearTimeout(timer);
    },
  };
}
