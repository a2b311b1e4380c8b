// What an engine's process holds of the machine's memory.
import { readFile } from 'node:fs/promises';

/** Its resident bytes; null when they cannot be read. Never rejects. */
export async function residentBytes(pid: number | undefined): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const told = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return told === undefined ? null : Number(told) * 1_024;
}
