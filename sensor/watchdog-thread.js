// Sleeps until the next beat. A process that was stopped from outside and goes on is not silent: it takes two halves of
// the silence, one after the other, without a beat. Plain JavaScript, so that the thread loads no compiler.
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

const { beats, silenceMs } = workerData;
let halves = 0;
while (halves < 2) {
  const seen = Atomics.load(beats, 0);
  halves = Atomics.wait(beats, 0, seen, silenceMs / 2) === 'timed-out' ? halves + 1 : 0;
}
writeSync(2, `service-sensor: nothing has moved for ${silenceMs} ms; the watchdog ends it\n`);
process.kill(process.pid, 'SIGKILL');
