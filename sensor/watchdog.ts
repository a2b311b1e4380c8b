// The Sensor's own watchdog: a thread that waits for beats of the event loop and ends the process when none comes for too
// long, so that whoever supervises it starts it again. The engine that is left behind ends when its input does.
import { Worker } from 'node:worker_threads';
import { WATCHDOG_BEAT_MS, WATCHDOG_SILENCE_MS } from '../machines/limits.ts';

const HEAP_MIB = 8;

/** Watches this process until the answered function is called. A thread that cannot start or ends leaves it unwatched. */
export function startWatchdog(
  onError: (error: unknown) => void,
  { beatMs, silenceMs } = { beatMs: WATCHDOG_BEAT_MS, silenceMs: WATCHDOG_SILENCE_MS },
): () => void {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const thread = new Worker(new URL('./watchdog-thread.js', import.meta.url), {
    workerData: { beats, silenceMs },
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB, maxYoungGenerationSizeMb: 1 },
  });
  thread.on('error', onError);
  thread.unref();
  const timer = setInterval(() => {
    Atomics.add(beats, 0, 1);
    Atomics.notify(beats, 0);
  }, beatMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    void thread.terminate();
  };
}
