// What `--import` names: as little as can be, since the threads of a program load it too, and the Sensor's watchdog has
// little memory.
import { isMainThread } from 'node:worker_threads';

if (isMainThread && (process.argv[1] ?? '').endsWith(process.env.DYING_PROGRAM ?? '-')) {
  await import('./dying-process.ts');
}
