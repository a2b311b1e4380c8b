// What the kernel counted for one process: its own CPU time and resident memory, threads included, children not.
import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second; fixed on Linux. */
const TICKS_PER_SECOND = 100;

/** User and system CPU seconds so far. */
export function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name may hold blanks; the numbers come after its closing parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Processes that it started and that run now. */
export function childrenOf(pid: number): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((one) => parentOf(one) === pid);
}

function parentOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return null;
  }
}

/** Resident memory in KiB. */
export function rssKibOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
}

/** How many files this process and its children may open. */
export function openFilesMax(): number {
  const limits = readFileSync('/proc/self/limits', 'utf8');
  const soft = /^Max open files\s+(\S+)/m.exec(limits)?.[1] ?? '1024';
  return soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft);
}
