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

const PID_MAX_DEFAULT = 32_768;
/** The number that the kernel gave last, and its forks since it started; 0 of them where nobody read them. */
export type Counted = { readonly pid: number; readonly forks: number };
/** What has begun between two moments. The numbers tell it more closely, as long as they cannot have gone round. */
export function begunBetween(
  from: Counted,
  to: Counted,
  most = Number(readProc('sys/kernel/pid_max') ?? PID_MAX_DEFAULT),
): number {
  const numbers = to.pid >= from.pid ? to.pid - from.pid : to.pid + Math.max(0, most - from.pid);
  const hasForks = from.forks > 0 && to.forks >= from.forks;
  const forked = hasForks ? to.forks - from.forks : numbers;
  return forked < most / 2 && numbers < forked ? numbers : forked;
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
