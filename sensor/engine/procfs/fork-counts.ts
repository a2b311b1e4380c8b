// How many processes and threads have begun, as the kernel counts them. invariant: I19
import * as fs from 'node:fs';
import { pidsOf, readProc, statOf } from './proc-files.ts';

const TICK_US = 10_000;
const THREADS = 17; // of the fields of /proc/PID/stat that statOf gives
const START = 19;

/** When the trace began, in the ticks of /proc too, and how far the kernel's counts were by then. */
export type Began = {
  readonly us: number;
  readonly ticks: number;
  readonly lastPid: number;
  readonly forks: number;
};

/** The number the kernel gave last, to a process or a thread. */
export const lastPid = (): number => Number(readProc('loadavg')?.trim().split(' ').at(-1) ?? 0);

/** Every fork since the machine started, threads among them; 0 where /proc does not tell. */
export function forksNow(): number {
  try {
    return Number(/^processes (\d+)$/m.exec(fs.readFileSync('/proc/stat', 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Threads that run now and began after `us` in processes that did: they are no processes. */
export function threadsSince(us: number): number {
  return pidsOf('/proc').reduce((sum, pid) => {
    const facts = statOf(pid);
    const isYoung = Number(facts[START] ?? 0) * TICK_US > us;
    return isYoung ? sum + Math.max(0, Number(facts[THREADS] ?? 1) - 1) : sum;
  }, 0);
}

/** Threads that run now beside the first one of each process. */
export function threadsNow(): number {
  const all = Number(readProc('loadavg')?.split(' ')[3]?.split('/')[1] ?? 0);
  return Math.max(0, all - pidsOf('/proc').length);
}
