// What /proc tells of a process. One that has vanished is an everyday answer.
import * as fs from 'node:fs';

export const READ_BYTES = 65_536;
export type Facts = { readonly ppid: number; readonly tgid: number; readonly uid: number };

const scratch = Buffer.alloc(READ_BYTES);
export function readProc(file: string): string | undefined {
  let fd = -1;
  try {
    fd = fs.openSync(`/proc/${file}`, 'r');
    return scratch.toString('utf8', 0, fs.readSync(fd, scratch, 0, READ_BYTES, 0));
  } catch {
    return undefined;
  } finally {
    if (fd >= 0) fs.closeSync(fd);
  }
}
/** Of this start of the machine; 'unknown' where /proc does not tell. */
export const bootId = (): string => readProc('sys/kernel/random/boot_id')?.trim() ?? 'unknown';
export function linkOf(file: string): string | undefined {
  try {
    return fs.readlinkSync(`/proc/${file}`);
  } catch {
    return undefined;
  }
}
export function pidsOf(directory: string): number[] {
  try {
    return fs.readdirSync(directory).map(Number).filter(Number.isSafeInteger);
  } catch {
    return [];
  }
}
export function factsOf(pid: number): Facts | undefined {
  const status = readProc(`${pid}/status`);
  const found = status?.match(/\nTgid:\t(\d+)\n[\s\S]*?\nPPid:\t(\d+)\n[\s\S]*?\nUid:\t\d+\t(\d+)/);
  return found
    ? { tgid: Number(found[1]), ppid: Number(found[2]), uid: Number(found[3]) }
    : undefined;
}
/** Fields of /proc/<pid>/stat from the state on (the name before it may hold anything, so it is cut at the last ')'). */
export function statOf(pid: number): string[] {
  const stat = readProc(`${pid}/stat`) ?? '';
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
export const startTicks = (pid: number): string => statOf(pid)[19] ?? '0';
